package importer

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/collect/importer/result"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
)

func redactedBy(t *testing.T, find func([]byte) ([]span, error), text string) result.Source {
	t.Helper()
	spans, err := find([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return without(result.Source{Data: []byte(text)}, spans)
}

func TestSecretsAreTakenOutOfText(t *testing.T) {
	for text, want := range map[string]string{
		"Running 1s test @ http://user:pa55@h/": "Running 1s test @ http://user:[redacted]@h/",
		"redis://:pa55@h":                       "redis://:[redacted]@h",
		"http://host/a:b@c":                     "http://host/a:b@c",
		"PGPASSWORD=abc psql":                   "PGPASSWORD=[redacted] psql",
		"curl --token abc x":                    "curl --token [redacted] x",
		"curl --token --next":                   "curl --token --next",
		"GET /?api_key=abc&n=1":                 "GET /?api_key=[redacted]&n=1",
		"-H 'Authorization: Bearer abcdefgh'":   "-H 'Authorization: Bearer [redacted]'",
		"Authorization: Basic dXNlcjpwYQ==":     "Authorization: Basic [redacted]",
		"a bearer of bad news":                  "a bearer of bad news",
		"tokens=5":                              "tokens=5",
		"password=":                             "password=",
		"[redacted]":                            "[redacted]",
	} {
		if got := redactedBy(t, textSecrets, text); string(got.Data) != want || (got.Redacted > 0) != (text != want) {
			t.Errorf("%q became %q with %d secrets, want %q", text, got.Data, got.Redacted, want)
		}
	}
}

func TestSecretsAreTakenOutOfJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"authenticate": "abc", "n": 1}`:               `{"authenticate": "[redacted]", "n": 1}`,
		`{"authenticate": ""}`:                          `{"authenticate": ""}`,
		`{"a": [{"Password": "a\"b"}]}`:                 `{"a": [{"Password": "[redacted]"}]}`,
		`{"token": 5, "password": null}`:                `{"token": 5, "password": null}`,
		`{"setup_data": {"a": {"b": [1]}}, "x": 2}`:     `{"setup_data": "[redacted]", "x": 2}`,
		`{"setup_data": [1, 2], "x": 2}`:                `{"setup_data": "[redacted]", "x": 2}`,
		`{"setup_data": 5}`:                             `{"setup_data": "[redacted]"}`,
		`{"uri": "redis:\/\/u:p@h\/0"}`:                 `{"uri": "redis:\/\/u:[redacted]@h\/0"}`,
		`{"setup_data": null}`:                          `{"setup_data": null}`,
		`{"command": "curl --password abc http://h"}`:   `{"command": "curl --password [redacted] http://h"}`,
		`{"name": "Parse/token=ident"}`:                 `{"name": "Parse/token=ident"}`,
		`{"uri": "redis://u:p@h/0"}`:                    `{"uri": "redis://u:[redacted]@h/0"}`,
		"warning: password=abc\n{\"n\": 1}":             "warning: password=[redacted]\n{\"n\": 1}",
		`{"headers": ["Authorization: Bearer abcdef"]}`: `{"headers": ["Authorization: Bearer [redacted]"]}`,
	} {
		if got := redactedBy(t, jsonSecrets, text); string(got.Data) != want || (got.Redacted > 0) != (text != want) {
			t.Errorf("%s became %s with %d secrets, want %s", text, got.Data, got.Redacted, want)
		}
	}
}

// TestBundleKeepsFiles imports every format: the originals are in the bundle
// byte for byte, or without their secrets and marked.
func TestBundleKeepsFiles(t *testing.T) {
	secrets := []string{"hunter2pw", "sekrit-token-1"}
	for _, f := range Formats() {
		dir := filepath.Join(t.TempDir(), "bundle")
		names := originals[f.Name][:min(2, len(originals[f.Name]))]
		var tables []result.Table
		var sources []result.Source
		for _, name := range names {
			table, src, err := f.Read(original(t, name), "")
			if err != nil {
				t.Fatal(err)
			}
			tables, sources = append(tables, table), append(sources, src)
		}
		table := tables[0]
		if !f.BothArms {
			var err error
			if table, err = Pair(sources[:1], sources[1:2], tables[:1], tables[1:2]); err != nil {
				t.Fatal(err)
			}
		}
		in, err := Build(names[0], table, Options{Format: f.Name, Study: "s", ToolVersion: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Write(t.Context(), atomicfile.OS{}, dir, in, sources); err != nil {
			t.Fatal(err)
		}
		found, err := bundle.Verify(dir)
		if err != nil || len(found.Findings) > 0 {
			t.Fatalf("%s: %v %v", f.Name, err, found.Findings)
		}
		b, err := bundle.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := b.Inputs()
		if err != nil || len(inputs) != len(names) {
			t.Fatalf("%s: %d inputs, want %d: %v", f.Name, len(inputs), len(names), err)
		}
		for i, name := range names {
			want := original(t, name).Data
			hasSecret := false
			for _, s := range secrets {
				hasSecret = hasSecret || bytes.Contains(want, []byte(s))
			}
			if same := bytes.Equal(want, sources[i].Data); same == hasSecret || hasSecret != (inputs[i].Gap != nil) {
				t.Errorf("%s: has a secret: %v, kept byte for byte: %v, marked: %v", name, hasSecret, same, inputs[i].Gap != nil)
			}
			for _, s := range secrets {
				if bytes.Contains(sources[i].Data, []byte(s)) {
					t.Errorf("%s: %s is still there", name, s)
				}
			}
			if !strings.HasSuffix(inputs[i].Name, name) {
				t.Errorf("%s: input is called %s", name, inputs[i].Name)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
