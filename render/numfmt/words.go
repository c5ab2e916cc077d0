package numfmt

import (
	"strconv"
	"strings"
)

// Count writes a whole number with thousands separators: 5,044,224.
func Count(n int64) string { return Style{group: true}.FormatInt(n) }

// Share writes `k/n`, as in 22/28.
func Share(k, n int) string { return strconv.Itoa(k) + "/" + strconv.Itoa(n) }

// Payload writes a size in bytes: the native profile always in bytes, the
// others in KiB and MiB where that is whole.
func (p Profile) Payload(bytes int64) string {
	const kibi = 1 << 10
	switch {
	case p == Native || bytes == 0 || bytes%kibi != 0:
		return strconv.FormatInt(bytes, 10) + " B"
	case bytes%mebi == 0:
		return strconv.FormatInt(bytes/mebi, 10) + " MiB"
	default:
		return strconv.FormatInt(bytes/kibi, 10) + " KiB"
	}
}

// Duration puts a space between number and unit of a plan's duration: 1ms is
// 1 ms. Any other text is returned as it is; ok says whether it was one.
func Duration(text string) (shown string, ok bool) {
	digits := strings.TrimLeft(text, "0123456789.")
	number := text[:len(text)-len(digits)]
	if number == "" || strings.Count(number, ".") > 1 || strings.HasPrefix(number, ".") || strings.HasSuffix(number, ".") {
		return text, false
	}
	switch digits {
	case "ns", "ms", "s", "min", "h":
		return number + " " + digits, true
	case "us":
		return number + " µs", true
	default:
		return text, false
	}
}

// Nanoseconds writes a duration in the largest unit in which it is short and
// exact to three decimals: 1 s, 250 ms, 1.5 µs.
func Nanoseconds(ns int64) string {
	for _, u := range []struct {
		divisor int64
		name    string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.divisor && ns%(u.divisor/1000) == 0 {
			return Style{divisor: u.divisor, decimals: 3, trim: true, group: true}.FormatInt(ns) + " " + u.name
		}
	}
	return Count(ns) + " ns"
}
