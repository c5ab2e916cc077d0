package tool

import (
	"regexp"
	"strings"

	"pairbench/collect/importer/result"
	"pairbench/records"
)

var (
	wrkTitle       = regexp.MustCompile(`^Running \S+ test @ (\S+)$`)
	wrkThreads     = regexp.MustCompile(`^\s+(\d+) threads? and (\d+) connections?$`)
	wrkRequests    = regexp.MustCompile(`^\s+(\d+) requests in ([0-9.]+)([a-zµ]+), `)
	wrkErrors      = regexp.MustCompile(`^\s+Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$`)
	wrkBadStatus   = regexp.MustCompile(`^\s+Non-2xx or 3xx responses: (\d+)$`)
	wrkRate        = regexp.MustCompile(`^Requests/sec:\s+(\S+)$`)
	wrkHeading     = regexp.MustCompile(`^\s+Latency Distribution(?: \(HdrHistogram - (.*)\))?$`)
	wrkPercentile  = regexp.MustCompile(`^\s*([0-9.]+)%\s+(\S+)$`)
	wrk2Calibrated = regexp.MustCompile(`^\s+Thread calibration: `)
)

// Wrk reads what wrk prints: each report in the file is a repetition. Its rate
// and percentiles are taken as stated; without --latency there are none.
func Wrk(src result.Source, suite string) (result.Table, error) { return readWrk(src, suite, false) }

// Wrk2 reads what wrk2 prints, where the latency counts from when a request was
// due. A table of latencies that leaves the wait out is passed over.
func Wrk2(src result.Source, suite string) (result.Table, error) { return readWrk(src, suite, true) }

// wrkReport is a report that is being read. wrk writes the rate last.
type wrkReport struct {
	o            result.Observation
	percentiles  bool // the lines of the table of latencies come now
	errors       int64
	seen, counts bool
}

func readWrk(src result.Source, suite string, second bool) (result.Table, error) {
	f := &textFile{src: src}
	t := result.Table{NamedByTarget: true}
	r := wrkReport{}
	for line := range f.lines() {
		if m := wrkTitle.FindStringSubmatch(line); m != nil {
			if r.seen {
				return result.Table{}, f.fail("found a second report, expected Requests/sec of the first one before it")
			}
			r = wrkReport{seen: true, o: result.New(f.number, suite, result.Word("url", m[1]))}
			continue
		}
		if !r.seen {
			continue // a warning, or what a script prints
		}
		if wrk2Calibrated.MatchString(line) && !second {
			return result.Table{}, f.fail("found a line of wrk2, expected wrk; use the format wrk2")
		}
		done, err := r.line(f, line)
		if err != nil {
			return result.Table{}, err
		}
		if done {
			if f.open {
				f.warnOpen(&t)
			}
			if err := t.Add(src.Name, r.o); err != nil {
				return result.Table{}, err
			}
			r = wrkReport{}
		}
	}
	if r.seen {
		return result.Table{}, f.fail("found the end of the file inside a report, expected Requests/sec")
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.failFile("found no report of wrk, expected a line such as %q", "Running 10s test @ http://host/")
	}
	return t, nil
}

func (r *wrkReport) line(f *textFile, line string) (done bool, err error) {
	p := &r.o.Process
	inTable := r.percentiles
	r.percentiles = false
	if m := wrkHeading.FindStringSubmatch(line); m != nil {
		r.percentiles = m[1] == "" || m[1] == "Recorded Latency"
		return false, nil
	}
	if m := wrkPercentile.FindStringSubmatch(line); m != nil && inTable {
		r.percentiles = true
		return false, r.percentile(f, m[1], m[2])
	}
	if m := wrkThreads.FindStringSubmatch(line); m != nil {
		r.o.Factors = append(r.o.Factors, result.Word("threads", m[1]), result.Word("connections", m[2]))
		return false, nil
	}
	if m := wrkRequests.FindStringSubmatch(line); m != nil {
		requests, problem := count(m[1])
		if problem != "" {
			return false, f.fail("requests: %s", problem)
		}
		elapsed, err := f.duration(m[2], m[3])
		if err != nil {
			return false, err
		}
		p.MeasuredOperations, p.ElapsedNs, r.counts = &requests, &elapsed, true
		return false, nil
	}
	for _, pattern := range []*regexp.Regexp{wrkErrors, wrkBadStatus} {
		if m := pattern.FindStringSubmatch(line); m != nil {
			for _, text := range m[1:] {
				n, problem := count(text)
				if problem != "" || n > 1<<58 {
					return false, f.fail("errors: found %s, expected a count", result.Quote(text))
				}
				r.errors += n
			}
			return false, nil
		}
	}
	if m := wrkRate.FindStringSubmatch(line); m != nil {
		return true, r.finish(f, m[1])
	}
	return false, nil
}

func (r *wrkReport) percentile(f *textFile, percent, value string) error {
	number, unit := valueWithUnit(value)
	ns, err := f.duration(number, unit)
	if err != nil {
		return err
	}
	p, problem := decimal(percent)
	if problem != "" {
		return f.fail("percentile: %s", problem)
	}
	switch p.RatString() {
	case "50":
		r.o.Process.StatedLatencyP50Ns = &ns
	case "99":
		r.o.Process.StatedLatencyP99Ns = &ns
	}
	return nil
}

func (r *wrkReport) finish(f *textFile, rate string) error {
	if !r.counts {
		return f.fail("found Requests/sec, expected the number of requests before it")
	}
	p := &r.o.Process
	if !strings.Contains(rate, "nan") && !strings.Contains(rate, "inf") {
		stated, problem := toUnits(rate, 1e6)
		if problem != "" {
			return f.fail("Requests/sec: %s", problem)
		}
		p.StatedThroughputMicroPerSec = &stated
	}
	errors := r.errors
	p.Errors = &errors
	if r.errors > 0 {
		result.Failed(p, records.OutcomeOperationErrors, "wrk counts socket errors or responses that are neither 2xx nor 3xx")
	}
	return nil
}

// duration reads a time with the unit behind it.
func (f *textFile) duration(number, unit string) (int64, error) {
	each, known := unitNs[unit]
	if !known {
		return 0, f.fail("unit of time: found %s, expected us, ms, s, m or h", result.Quote(unit))
	}
	ns, problem := toUnits(number, each)
	if problem != "" {
		return 0, f.fail("%s", problem)
	}
	return ns, nil
}
