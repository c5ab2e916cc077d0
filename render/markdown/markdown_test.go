package markdown

import "testing"

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"11,246.7 [11,135.8–11,282.4]": "11,246.7 [11,135.8–11,282.4]",
		"+1.83%":                       "+1.83%",
		"−0.00%":                       "−0.00%",
		"-0.8%":                        "-0.8%",
		"97.11 [95.52–99.63] → 95.20 [94.97–96.62]": "97.11 [95.52–99.63] → 95.20 [94.97–96.62]",
		"redis_tcp":            "redis_tcp",
		"_a_":                  `\_a\_`,
		"a|b":                  `a\|b`,
		"<b>&":                 "&lt;b&gt;&amp;",
		"*x* `y` ~z~ $w$ \\":   "\\*x\\* \\`y\\` \\~z\\~ \\$w\\$ \\\\",
		"[a](b)":               `\[a\](b)`,
		"x [a](b)":             `x [a\](b)`,
		"[a]: b":               `\[a\]: b`,
		"![a](b)":              `\![a\](b)`,
		"# a":                  `\# a`,
		"- a":                  `\- a`,
		"---":                  `\---`,
		"1. a":                 `1\. a`,
		"1.5":                  "1.5",
		"https://example.org/": "https&#58;//example.org/",
		"@a":                   "&#64;a",
		"4 KiB · 连接／在途":        "4 KiB · 连接／在途",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"0a1f": "`0a1f`", "a|b": `a\|b`, "a`b": "a\\`b", "": ""} {
		if got := code(text); got != want {
			t.Errorf("code %q: got %q, want %q", text, got, want)
		}
	}
}
