package tool

import (
	"fmt"
	"strings"
	"time"

	"pairbench/collect/importer/result"
	"pairbench/records"
)

// goYCSBHeader begins the raw requests.
const goYCSBHeader = "operation,timestamp_us,latency_us"

// GoYCSB reads the raw requests of go-ycsb (measurementtype=csv): every request
// is a sample, every operation a cell, and the file one process. The measured
// interval is the file's, from the first start to the last end, for all of its
// operations. Requests that failed are errors, and no samples.
func GoYCSB(src result.Source, suite string) (result.Table, error) {
	f := &textFile{src: src}
	byName := map[string]*ycsbOperation{}
	var names []string
	header, open, requests, begin, end := false, false, 0, int64(0), int64(0)
	for line := range f.lines() {
		if !header {
			header = strings.TrimSpace(line) == goYCSBHeader
			continue
		}
		if line == "" {
			continue
		}
		name, start, latency, err := f.ycsbRequest(line)
		if err != nil {
			return result.Table{}, err
		}
		if name == "" {
			break // what go-ycsb prints when it is done
		}
		op := byName[name]
		if op == nil {
			if len(names) == maxYCSBOperations {
				return result.Table{}, f.fail("found more than %d kinds of operations, expected fewer", maxYCSBOperations)
			}
			op = &ycsbOperation{line: f.number}
			byName[name] = op
			names = append(names, name)
		}
		if end == 0 || start < begin {
			begin = start
		}
		end = max(end, start+latency)
		if requests++; requests > maxYCSBRequests {
			return result.Table{}, f.fail("found more than %d requests, expected fewer", maxYCSBRequests)
		}
		open = f.open
		op.start = append(op.start, start)
		op.latency = append(op.latency, latency)
	}
	if !header {
		return result.Table{}, f.failFile("found no line %q, expected the raw requests of go-ycsb", goYCSBHeader)
	}
	var t result.Table
	if open {
		f.warnOpen(&t)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_ERROR") {
			continue
		}
		o := byName[name].observation(begin, end, suite, name)
		errors := int64(0)
		for other, failures := range byName {
			if other == name+"_ERROR" || name == "TOTAL" && strings.HasSuffix(other, "_ERROR") {
				errors += int64(len(failures.latency))
			}
		}
		if errors > 0 {
			result.Failed(&o.Process, records.OutcomeOperationErrors, fmt.Sprintf("failed requests: %d", errors))
		}
		o.Process.Errors = &errors
		t.Observations = append(t.Observations, o)
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.failFile("found a header and no requests, expected one a line")
	}
	if len(t.Observations) == 2 && byName["TOTAL"] != nil {
		// Of one kind of operation TOTAL says the same again.
		kept := t.Observations[:0]
		for _, o := range t.Observations {
			if o.Factors[0].Value.Str != "TOTAL" {
				kept = append(kept, o)
			}
		}
		t.Observations = kept
	}
	return t, nil
}

// maxYCSBOperations bounds the kinds of operations, of which go-ycsb knows about
// ten, and maxYCSBRequests their requests, which are held in memory.
const (
	maxYCSBOperations = 100
	maxYCSBRequests   = 10_000_000
)

// ycsbOperation holds the requests of one kind, in microseconds.
type ycsbOperation struct {
	line           int
	start, latency []int64
}

// maxYCSBMicros keeps nanoseconds since 1970 within 63 bits.
const maxYCSBMicros = 1 << 53

// ycsbRequest reads a line; a line without commas is no request.
func (f *textFile) ycsbRequest(line string) (name string, start, latency int64, err error) {
	fields := strings.Split(line, ",")
	if len(fields) == 1 && strings.Contains(line, " ") || strings.HasPrefix(line, "Run finished") {
		return "", 0, 0, nil
	}
	if len(fields) != 3 || fields[0] == "" {
		return "", 0, 0, f.fail("found %s, expected an operation, a time and a latency", result.Quote(line))
	}
	for i, into := range []*int64{&start, &latency} {
		n, problem := count(fields[i+1])
		if problem == "" && n > maxYCSBMicros {
			problem = fmt.Sprintf("found %d, expected at most %d", n, int64(maxYCSBMicros))
		}
		if problem != "" {
			return "", 0, 0, f.fail("%s: %s", []string{"timestamp_us", "latency_us"}[i], problem)
		}
		*into = n
	}
	return fields[0], start, latency, nil
}

func (op *ycsbOperation) observation(begin, end int64, suite, name string) result.Observation {
	o := result.New(op.line, suite, result.Word("operation", name))
	operations, elapsed := int64(len(op.latency)), (end-begin)*1e3
	o.Process.MeasuredOperations, o.Process.ElapsedNs = &operations, &elapsed
	o.Process.Start(time.UnixMicro(begin))
	for i := range op.start {
		op.start[i] = (op.start[i] - begin) * 1e3
		op.latency[i] *= 1e3
	}
	o.Samples = &records.Samples{StartNs: op.start, LatencyNs: op.latency, ClockTickNs: 1e3}
	return o
}
