package hdr

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Log writes an interval log: a head, then a line for each process.
type Log struct {
	w    io.Writer
	base time.Time
}

// NewLog writes the head of a log whose intervals count from base.
func NewLog(w io.Writer, base time.Time) (*Log, error) {
	_, err := fmt.Fprintf(w, "#[Histogram log format version 1.3]\n#[BaseTime: %s (seconds since epoch)]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n", seconds(time.Duration(base.UnixNano())))
	return &Log{w, base}, err
}

// Write adds the histogram of an interval that began at start and took so long.
// Its largest value is written in milliseconds, taking it for nanoseconds.
func (l *Log) Write(tag string, start time.Time, length time.Duration, h *Histogram) error {
	text, err := h.Encode()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.w, "Tag=%s,%s,%s,%d.%03d,%s\n", safeTag(tag),
		seconds(start.Sub(l.base)), seconds(length), h.Max()/1e6, h.Max()%1e6/1e3, text)
	return err
}

// seconds writes a duration as decimal seconds down to milliseconds; what is
// smaller is cut off.
func seconds(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return fmt.Sprintf("%s%d.%03d", sign, d/time.Second, d%time.Second/time.Millisecond)
}

// safeTag keeps commas, spaces and control characters out of a tag.
func safeTag(tag string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == ',' || r == 0x7f || r >= 0x80 && r <= 0xa0 || r == '\u2028' || r == '\u2029' {
			return '_'
		}
		return r
	}, tag)
}
