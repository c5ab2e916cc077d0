package tool

import (
	"slices"
	"strings"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
)

// redisColumns are the columns of redis-benchmark 6.2 and later. Before, there
// was no header, and a row was a name and a rate.
var redisColumns = []string{"test", "rps", "avg_latency_ms", "min_latency_ms", "p50_latency_ms", "p95_latency_ms", "p99_latency_ms", "max_latency_ms"}

var redisHeader = `"` + strings.Join(redisColumns, `","`) + `"`

// RedisBenchmark reads `redis-benchmark --csv` of 6.0, 6.2 and 7: each row is a
// repetition of its test. The number of requests is not in the file: the rate
// is taken as stated, like the percentiles.
func RedisBenchmark(src result.Source, suite string) (result.Table, error) {
	f := &textFile{src: src}
	var t result.Table
	width := 2 // fields of a row; 2 until a header says otherwise
	for line := range f.lines() {
		// Newer versions write progress over the same line before a row.
		line = line[strings.LastIndexByte(line, '\r')+1:]
		if !strings.HasPrefix(line, `"`) {
			if strings.Contains(line, between) {
				return result.Table{}, f.fail("found %s, expected a quote before it", result.Quote(line))
			}
			continue // a warning
		}
		if strings.HasPrefix(line, `"test",`) {
			if line = strings.TrimRight(line, " \t"); line != redisHeader {
				return result.Table{}, f.fail("header: found %s, expected %s", result.Quote(line), redisHeader)
			}
			width = len(redisColumns)
			continue
		}
		row, ok := redisRow(line, width)
		if !ok {
			return result.Table{}, f.fail("found %s, expected fields in quotes with commas between them", result.Quote(line))
		}
		if len(row) != width {
			return result.Table{}, f.fail("found %d fields, expected %d", len(row), width)
		}
		if width == 2 && endsInNumbers(row[0]) {
			return result.Table{}, f.fail("found a row of %d fields, expected the header %s before it", len(redisColumns), redisHeader)
		}
		o := result.New(f.number, suite, result.Word("test", row[0]))
		for i, into := range []**int64{1: &o.Process.StatedThroughputMicroPerSec, 4: &o.Process.StatedLatencyP50Ns, 6: &o.Process.StatedLatencyP99Ns} {
			if into == nil || i >= width || jsondoc.IsNotFinite(row[i]) {
				continue
			}
			n, problem := toUnits(row[i], 1e6)
			if problem != "" {
				return result.Table{}, f.fail("%s: %s", redisColumns[i], problem)
			}
			*into = &n
		}
		if err := t.Add(src.Name, o); err != nil {
			return result.Table{}, err
		}
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.failFile("found no rows of redis-benchmark, expected lines such as %q", `"SET","123456.79"`)
	}
	return t, nil
}

// between parts two fields.
const between = `","`

// endsInNumbers reports whether a name goes on with the fields that only rows
// with a header have.
func endsInNumbers(name string) bool {
	fields := strings.Split(name, between)
	fields = fields[max(0, len(fields)-len(redisColumns)+2):]
	return len(fields) == len(redisColumns)-2 && !slices.ContainsFunc(fields, func(text string) bool {
		_, problem := decimal(text)
		return problem != "" && !jsondoc.IsNotFinite(text)
	})
}

// redisRow splits a row of so many fields. Its name is a command as it was
// given, whose quotes are not escaped: only a quote, a comma and a quote part
// two fields, and what is too many of them belongs to the name.
func redisRow(line string, width int) ([]string, bool) {
	line = strings.TrimRight(line, " \t")
	if len(line) < 2 || line[0] != '"' || line[len(line)-1] != '"' {
		return nil, false
	}
	fields := strings.Split(line[1:len(line)-1], between)
	if extra := len(fields) - width; extra > 0 {
		fields = append([]string{strings.Join(fields[:extra+1], between)}, fields[extra+1:]...)
	}
	return fields, true
}
