package analyze

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"pairbench/analyze/metric"
	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
)

// The limits beyond which a doubt is said.
const (
	tailSamples       = 100  // a percentile resting on fewer samples above it
	levelSamples      = 200  // fewer samples say nothing about ten blocks
	littleTolerance   = 0.10 // of the requests in flight
	driftP            = 0.01 // metrics besides throughput are named below it
	stealShare        = 100  // steal above 1/100 of the process's time
	pressureShare     = 10   // CPU pressure above 1/10 of it
	namedProcesses    = 20   // ids that one note lists
	factorOutstanding = "outstanding"
	factorCadence     = "cadence"
)

// reportNotes are the doubts about the whole study.
func (st *study) reportNotes(r *report.Report) []report.Note {
	notes := slices.Clone(st.notes)
	for _, in := range st.inputs {
		if in.run.Origin == "imported" {
			format := ""
			if in.run.ImportFormat != nil {
				format = *in.run.ImportFormat
			}
			notes = appendNote(notes, report.Note{Code: report.NoteImported, Values: []string{format}})
		} else if in.run.Lock != "complete" {
			notes = appendNote(notes, report.Note{Code: report.NoteLockIncomplete, Values: in.run.LockGaps})
		}
	}
	if len(r.Failures) > 0 {
		notes = append(notes, report.Note{Code: report.NoteFailedProcesses, Values: []string{strconv.Itoa(len(r.Failures))}})
	}
	return notes
}

// appendNote adds a note that is not there yet.
func appendNote(notes []report.Note, note report.Note) []report.Note {
	for _, n := range notes {
		if n.Code == note.Code && n.Metric == note.Metric && slices.Equal(n.Values, note.Values) {
			return notes
		}
	}
	return append(notes, note)
}

// suiteNotes are the doubts about a suite, in the order of the constants.
func (st *study) suiteNotes(s *suite) []report.Note {
	var notes []report.Note
	add := func(code, metric string, values ...string) {
		notes = append(notes, report.Note{Code: code, Metric: metric, Values: values})
	}
	t := s.totals()
	if t.UnderOneSecond > 0 {
		add(report.NoteShortIntervals, "", strconv.Itoa(t.UnderOneSecond), strconv.Itoa(t.Processes-t.Failed))
	}
	var all []*process
	for _, c := range s.cells {
		all = append(all, c.processes...)
	}
	if smallest, n := fewTail(s, all); n > 0 {
		add(report.NoteFewTailSamples, metric.LatencyP99, strconv.FormatInt(smallest, 10), strconv.Itoa(n))
	}
	if collected(all) && !st.notPaired {
		if firstA, pairs := orderBalance(s); pairs > 0 {
			add(report.NoteOrderBalance, "", strconv.Itoa(firstA), strconv.Itoa(pairs))
		}
		for i, m := range s.metrics {
			if k, ok := drift(s, metricIndex(s.metrics)[i]); ok && (m.ID == metric.Throughput || k.P < driftP) {
				add(report.NoteDrift, m.ID, fixed(k.Tau, 2), significant(k.P), strconv.Itoa(k.N))
			}
		}
	}
	var levels []string
	stated, unpinned, missed, missing := 0, 0, int64(0), 0
	for _, p := range all {
		if _, found := p.level(); found {
			levels = append(levels, p.ProcessID)
		}
		if p.samples.stated {
			stated++
		}
		if p.in.run.Origin != "imported" && !cpusPinned(p.Process) {
			unpinned++
		}
		if p.MissedTicks != nil && *p.MissedTicks > 0 {
			missed += *p.MissedTicks
			missing++
		}
	}
	if len(levels) > 0 {
		add(report.NoteLevelChange, "", named(levels)...)
	}
	if missing > 0 {
		add(report.NoteMissedTicks, "", strconv.FormatInt(missed, 10), strconv.Itoa(missing))
	}
	if t.Failed > 0 {
		add(report.NoteFailedProcesses, "", strconv.Itoa(t.Failed))
	}
	if stated > 0 {
		add(report.NoteStatedLatency, "", strconv.Itoa(stated))
	}
	if st.inputs[0].run.AA {
		for i, m := range s.metrics {
			if pct, ok := positionEffect(s, metricIndex(s.metrics)[i]); ok {
				add(report.NoteSamePosition, m.ID, fixed(pct, 2))
			}
		}
	}
	if unpinned > 0 {
		add(report.NoteUnpinned, "", strconv.Itoa(unpinned))
		if polls(s) {
			add(report.NoteCollectorPolling, "")
		}
	}
	return notes
}

// cellNotes are the doubts about one cell.
func (st *study) cellNotes(s *suite, c *cell) []report.Note {
	var notes []report.Note
	add := func(code, metric string, values ...string) {
		notes = append(notes, report.Note{Code: code, Metric: metric, Values: values})
	}
	if smallest, n := fewTail(s, c.processes); n > 0 {
		add(report.NoteFewTailSamples, metric.LatencyP99, strconv.FormatInt(smallest, 10), strconv.Itoa(n))
	}
	missed, missing := int64(0), 0
	disturbed := map[string][]string{}
	worst, expected := 0.0, 0.0
	for _, p := range c.processes {
		if p.MissedTicks != nil && *p.MissedTicks > 0 {
			missed += *p.MissedTicks
			missing++
		}
		for _, what := range p.disturbances() {
			disturbed[what] = append(disturbed[what], p.ProcessID)
		}
		if found, want, ok := p.inFlight(c); ok && p.ok() && abs(found-want) > littleTolerance*want && abs(found-want) > abs(worst-expected) {
			worst, expected = found, want
		}
	}
	if expected > 0 {
		add(report.NoteLittlesLaw, "", fixed(worst, 2), fixed(expected, 0))
	}
	if missing > 0 {
		add(report.NoteMissedTicks, "", strconv.FormatInt(missed, 10), strconv.Itoa(missing))
	}
	for _, what := range disturbanceKinds {
		if ids := disturbed[what]; len(ids) > 0 {
			add(report.NoteDisturbed, "", append([]string{what}, named(ids)...)...)
		}
	}
	return notes
}

// notes are the doubts about one process.
func (p *process) notes() []report.Note {
	var notes []report.Note
	if shift, found := p.level(); found {
		notes = append(notes, report.Note{Code: report.NoteLevelChange, Values: []string{p.ProcessID, fixed(shift*100, 0)}})
	}
	for _, what := range p.disturbances() {
		notes = append(notes, report.Note{Code: report.NoteDisturbed, Values: []string{what, p.ProcessID}})
	}
	return notes
}

// named cuts a list of ids to a length that a sentence can carry.
func named(ids []string) []string {
	if len(ids) > namedProcesses {
		return append(slices.Clone(ids[:namedProcesses]), "+"+strconv.Itoa(len(ids)-namedProcesses))
	}
	return ids
}

func collected(processes []*process) bool {
	return len(processes) > 0 && processes[0].in.run.Origin != "imported"
}

// fewTail returns the smallest number of samples above a process's P99 and how
// many processes have fewer than tailSamples.
func fewTail(s *suite, processes []*process) (smallest int64, count int) {
	if !slices.ContainsFunc(s.metrics, func(m metric.Metric) bool { return m.ID == metric.LatencyP99 }) {
		return 0, 0
	}
	for _, p := range processes {
		n := p.samples.n
		if n == 0 && p.samples.stated && p.MeasuredOperations != nil {
			n = *p.MeasuredOperations // a stated percentile is of at most so many
		}
		if n == 0 || !p.ok() {
			continue
		}
		if above := stat.P99.Above(n); above < tailSamples {
			if count == 0 || above < smallest {
				smallest = above
			}
			count++
		}
	}
	return smallest, count
}

// pairs calls visit for both sides of every round that has both.
func (c *cell) pairs(visit func(a, b *process)) {
	b := map[int32]*process{}
	for _, p := range c.processes {
		if p.side == records.SideB {
			b[p.round] = p
		}
	}
	for _, p := range c.processes {
		if p.side == records.SideA && b[p.round] != nil {
			visit(p, b[p.round])
		}
	}
}

func orderBalance(s *suite) (firstA, pairs int) {
	for _, c := range s.cells {
		c.pairs(func(a, b *process) {
			pairs++
			if a.FirstInPair {
				firstA++
			}
		})
	}
	return firstA, pairs
}

// drift asks whether a metric rises or falls over the order of execution,
// comparing each process with the others of its cell and side.
func drift(s *suite, metricNo int) (stat.Kendall, bool) {
	var series [][]float64
	for _, c := range s.cells {
		for _, side := range records.Sides {
			series = append(series, floats(c.values(side, metricNo)))
		}
	}
	return stat.KendallTrend(series...)
}

// positionEffect is how much more the second process of a pair gave than the
// first, whatever its side, as the geometric mean over the pairs.
func positionEffect(s *suite, metricNo int) (pct float64, ok bool) {
	var ratios []float64
	for _, c := range s.cells {
		c.pairs(func(a, b *process) {
			first, second := a, b
			if !a.FirstInPair {
				first, second = b, a
			}
			v, w := first.values[metricNo], second.values[metricNo]
			if first.ok() && second.ok() && v != nil && w != nil && v.Sign() > 0 {
				ratios = append(ratios, float(w)/float(v))
			}
		})
	}
	return stat.GeometricMean(ratios)
}

// level reports a step or slope of the rate inside the measured interval.
func (p *process) level() (shift float64, found bool) {
	if p.samples.n < levelSamples {
		return 0, false
	}
	rates := make([]float64, timeBlocks)
	for i, n := range p.samples.blocks {
		rates[i] = float64(n)
	}
	return stat.LevelChange(rates)
}

// inFlight returns how many requests were in flight on average and how many the
// cell keeps there, for the cells of a closed loop that say so.
func (p *process) inFlight(c *cell) (found, expected float64, ok bool) {
	f, has := c.Factor(factorOutstanding)
	if !has || f.Kind != records.FactorInt || f.Int <= 0 || p.samples.n == 0 || p.ElapsedNs == nil || *p.ElapsedNs <= 0 ||
		p.values[metricIndex([]metric.Metric{{ID: metric.ResponseP50}})[0]] != nil {
		return 0, 0, false
	}
	mean := new(big.Rat).SetFrac(&p.samples.busyNs, big.NewInt(*p.ElapsedNs))
	return float(mean), float64(f.Int), true
}

// disturbanceKinds are what can have disturbed a process, in order of weight.
var disturbanceKinds = []string{"steal", "throttled", "cpu_pressure"}

func (p *process) disturbances() []string {
	var found []string
	share := func(what string, v *int64, part int64) {
		if v != nil && p.ProcessWallNs != nil && *v > *p.ProcessWallNs/part {
			found = append(found, what)
		}
	}
	share("steal", p.StealNs, stealShare)
	if p.ThrottledNs != nil && *p.ThrottledNs > 0 {
		found = append(found, "throttled")
	}
	share("cpu_pressure", p.CPUPressureNs, pressureShare)
	return found
}

// polls reports whether a cell's owner polls without a pause.
func polls(s *suite) bool {
	for _, c := range s.cells {
		if v, ok := c.Factor(factorCadence); ok && strings.EqualFold(v.String(), "continuous") {
			return true
		}
	}
	return false
}

func floats(values []*big.Rat) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float(v)
	}
	return out
}

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

func abs(v float64) float64 { return max(v, -v) }

func fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

func significant(v float64) string { return strconv.FormatFloat(v, 'g', 2, 64) }
