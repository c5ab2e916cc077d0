package layout

import (
	"math/big"
	"sort"
	"strconv"
	"strings"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/i18n"
	"pairbench/render/numfmt"
)

// scope says where, when and with what the numbers were taken.
func (b *builder) scope() []Block {
	r, w := b.r, b.w
	t := &Table{ID: "t-scope", Columns: []Column{{Title: w.Columns.Fact}, {Title: w.Columns.Value}}}
	add := func(name string, values ...string) {
		if text := strings.Join(values, w.ListComma); text != "" {
			t.Rows = append(t.Rows, Row{[]Cell{{Text: name}, {Text: text}}})
		}
	}
	if !r.Scope.StartedAt.IsZero() {
		add(w.Scope.Time, utc(r.Scope.StartedAt, r.Scope.EndedAt))
	}
	add(w.Scope.Tool, w.Sentences.Tool(Visible(r.ToolVersion)))
	if r.Study.AA {
		add(w.Scope.Arms, b.arm(0), b.arm(1))
	} else {
		add(w.Scope.Arms, "A "+b.arm(0), "B "+b.arm(1))
	}
	order := Visible(w.Names.Order(r.Study.Order.Kind))
	if r.Study.Order.Seed != nil {
		order += " (" + w.Scope.Seed + " " + strconv.FormatInt(*r.Study.Order.Seed, 10) + ")"
	}
	add(w.Scope.Order, order)
	add(w.Scope.Rounds, numfmt.Count(int64(r.Study.Rounds)))
	for _, h := range r.Scope.Hosts {
		b.hostLines(h, add)
	}
	for i := range r.Suites {
		b.suiteScope(&r.Suites[i], add)
	}
	for _, line := range sortedLines(r.Scope.Versions) {
		add(w.Scope.Version+" "+line.name, line.value)
	}
	for _, line := range sortedLines(r.Scope.Runtime) {
		add(w.Scope.Runtime+" "+line.name, line.value)
	}
	for _, source := range r.Scope.RSSSources {
		add(w.Scope.RSS, Visible(w.Names.RSSSource(source)))
	}
	add(w.Scope.ClientCPUs, visibleAll(r.Scope.ClientCPUs)...)
	add(w.Scope.ServerCPUs, visibleAll(r.Scope.ServerCPUs)...)
	if r.Study.PlanSHA256 != "" {
		t.Rows = append(t.Rows, Row{[]Cell{{Text: w.Scope.Plan}, {Text: Visible(r.Study.PlanSHA256), Tone: Mono}}})
	}
	blocks := []Block{t}
	for _, h := range r.Scope.Hosts {
		if d := b.hostFacts(h); d != nil {
			blocks = append(blocks, *d)
		}
	}
	return blocks
}

// headlineFacts are the host facts that belong beside the numbers; the others
// are folded away.
func headlineFacts() []string {
	return []string{"cpu.model", "cpu.logical", "cpu.governor", "cpu.turbo", "memory.total_bytes", "os.name", "kernel.release", "clock.source",
		"calibration.clock_read_ns", "calibration.sample_record_ns", "calibration.empty_request_callback_ns", "calibration.empty_request_coroutine_ns"}
}

func (b *builder) hostLines(h report.Host, add func(string, ...string)) {
	byName := map[string]records.HostFact{}
	for _, f := range h.Facts {
		byName[f.Name] = f
	}
	for _, name := range headlineFacts() {
		if f, ok := byName[name]; ok && f.Value != nil {
			add(b.w.Names.Fact(name), factValue(f))
		}
	}
}

// factValue writes a fact with its unit; a size in bytes in GiB as well.
func factValue(f records.HostFact) string {
	text := Visible(*f.Value)
	unit := ""
	if f.Unit != nil {
		unit = Visible(*f.Unit)
	}
	n, err := strconv.ParseInt(*f.Value, 10, 64)
	switch {
	case err == nil && strings.HasSuffix(f.Name, "_bytes"):
		const gibi = 1 << 30
		if n >= gibi {
			return numfmt.Decimals(1).Format(big.NewRat(n, gibi)) + " GiB"
		}
		return numfmt.Count(n) + " B"
	case unit == "" && strings.HasSuffix(f.Name, "_ns"):
		unit = "ns"
	}
	if unit != "" && unit != "count" {
		text += " " + unit
	}
	return text
}

func (b *builder) hostFacts(h report.Host) *Details {
	w := b.w
	t := &Table{ID: "t-host-" + strconv.Itoa(h.Bundle+1), Filter: true, Columns: []Column{{Title: w.Columns.Fact}, {Title: w.Columns.Value}, {Title: w.Columns.Source}}}
	for _, f := range h.Facts {
		value := Cell{Text: w.Names.Absent, Tone: Quiet}
		switch {
		case f.Value != nil:
			text := Visible(*f.Value)
			if f.Unit != nil {
				text += " " + Visible(*f.Unit)
			}
			value = Cell{Text: text}
		case f.AbsentReason != nil:
			value.Text += " (" + Visible(*f.AbsentReason) + ")"
		}
		t.Rows = append(t.Rows, Row{[]Cell{{Text: Visible(f.Name), Tone: Mono}, value, {Text: Visible(f.Source), Tone: Quiet}}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	summary := w.Scope.Host
	if len(b.r.Bundles) > 1 {
		summary += " " + shortHash(b.r.Bundles[h.Bundle].Identity)
	}
	return &Details{summary + " (" + numfmt.Count(int64(len(t.Rows))) + ")", []Block{t}}
}

func (b *builder) suiteScope(s *report.Suite, add func(string, ...string)) {
	w := b.w
	title := func(what string) string {
		if len(b.r.Suites) == 1 {
			return what
		}
		return b.suiteTitle(s) + " · " + what
	}
	add(title(w.Scope.Operation), Visible(s.Workload))
	if v := s.Service; v != nil {
		line := w.Sentences.ServiceLine(Visible(v.Name), Visible(v.Version), Visible(w.Names.ServiceMode(v.Mode)), Visible(v.Address))
		if v.TLS != nil {
			line += w.ListComma + Visible(*v.TLS)
		}
		add(title(w.Scope.Service), line)
	}
	var constants []string
	for i, f := range s.Factors {
		if f.Constant && len(s.Cells) > 0 {
			constants = append(constants, b.factor(f)+" "+b.factorValue(s, i, s.Cells[0].Factors[i].Value))
		}
	}
	add(title(w.Scope.Constant), constants...)
	var cpu []string
	switch {
	case wholeRuns(s):
		cpu = append(cpu, Visible(w.Names.CPUScope("run")))
	case s.CPUCovers != "":
		cpu = append(cpu, Visible(w.Names.CPUCovers(s.CPUCovers)))
	}
	if s.CPUScope != "" && !wholeRuns(s) {
		cpu = append(cpu, Visible(w.Names.CPUScope(string(s.CPUScope))))
	}
	add(title(w.Scope.CPU), cpu...)
	if s.LatencyCovers != "" && hasLatency(s) {
		add(title(w.Scope.Latency), Visible(w.Names.LatencyCovers(s.LatencyCovers)))
	}
}

type line struct{ name, value string }

func sortedLines(m map[string][]string) []line {
	var lines []line
	for name, values := range m {
		lines = append(lines, line{Visible(name), strings.Join(visibleAll(values), ", ")})
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i].name < lines[j].name })
	return lines
}

func visibleAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = Visible(t)
	}
	return out
}

// counts gives totals and what each process was planned to do.
func (b *builder) counts() []Block {
	r, w := b.r, b.w
	blocks := []Block{Paragraph{b.totals(&r.Totals)}}
	if len(r.Suites) > 1 {
		var items []string
		for i := range r.Suites {
			items = append(items, b.suiteTitle(&r.Suites[i])+w.Colon+b.totals(&r.Suites[i].Totals))
		}
		blocks = append(blocks, List{items})
	}
	for i := range r.Suites {
		if t := b.countTable(i); t != nil {
			blocks = append(blocks, t)
		}
	}
	return blocks
}

func (b *builder) totals(t *report.Totals) string {
	w := b.w
	text := w.Sentences.Totals(numfmt.Count(int64(t.Processes)), b.operations(t.MeasuredOperations), b.operations(t.WarmupOperations), numfmt.Count(t.Samples))
	if t.ShortestElapsedNs != nil && t.LongestElapsedNs != nil {
		text = b.sentences(text, w.Sentences.Intervals(numfmt.Seconds().FormatInt(*t.ShortestElapsedNs), numfmt.Seconds().FormatInt(*t.LongestElapsedNs),
			numfmt.Count(int64(t.UnderOneSecond)), numfmt.Count(int64(t.Processes-t.Failed))))
		if !b.imported() && !b.all(wholeRuns) {
			text = b.sentences(text, w.Sentences.OutsideIntervals)
		}
	}
	return b.sentences(text, Errors(t, w))
}

// Errors says how many requests and processes failed. Of requests it says
// nothing where no process does.
func Errors(t *report.Totals, w *i18n.Words) string {
	requests := numfmt.Count(t.Errors)
	if t.ErrorsUnstated == t.Processes {
		requests = ""
	}
	return w.Sentences.Errors(requests, t.Failed)
}

func (b *builder) countTable(suite int) *Table {
	s, w := &b.r.Suites[suite], b.w
	if len(s.Counts) == 0 {
		return nil
	}
	t := &Table{ID: "t-" + fragment(suite, "counts"), Title: b.suiteTitle(s), Filter: len(s.Counts) > 12}
	// The factors that decide the counts are those of the first row.
	var indices []int
	for _, v := range s.Counts[0].Factors {
		for i, f := range s.Factors {
			if f.Name == v.Name {
				indices = append(indices, i)
			}
		}
	}
	for k := 0; k < len(indices); k++ {
		f := s.Factors[indices[k]]
		if k+1 < len(indices) && f.Name == connections && s.Factors[indices[k+1]].Name == outstanding {
			t.Columns = append(t.Columns, Column{Title: b.connectionsOutstanding(s, indices[k], indices[k+1])})
			k++
			continue
		}
		t.Columns = append(t.Columns, Column{Title: b.factor(f)})
	}
	t.Columns = append(t.Columns, Column{w.Columns.MeasuredPerProcess, true}, Column{w.Columns.WarmupPerProcess, true}, Column{w.Columns.Cells, true})
	for _, c := range s.Counts {
		var row []Cell
		shown := func(i int) string {
			for _, v := range c.Factors {
				if v.Name == s.Factors[i].Name {
					return b.factorValue(s, i, v.Value)
				}
			}
			return absent
		}
		for k := 0; k < len(indices); k++ {
			text := shown(indices[k])
			if k+1 < len(indices) && s.Factors[indices[k]].Name == connections && s.Factors[indices[k+1]].Name == outstanding {
				k++
				text += "/" + shown(indices[k])
			}
			row = append(row, Cell{Text: text})
		}
		cells := float64(c.Cells)
		row = append(row, amount(c.Operations, c.DurationNs), amount(c.WarmupOperations, c.WarmupDurationNs), Cell{Text: numfmt.Count(int64(c.Cells)), Sort: &cells})
		t.Rows = append(t.Rows, Row{row})
	}
	return t
}

// amount is a planned count, or a planned duration where there is no count.
func amount(count, ns *int64) Cell {
	switch {
	case count != nil:
		v := float64(*count)
		return Cell{Text: numfmt.Count(*count), Sort: &v}
	case ns != nil:
		v := float64(*ns)
		return Cell{Text: numfmt.Nanoseconds(*ns), Sort: &v}
	default:
		return Cell{Text: absent, Tone: Quiet}
	}
}

// evidence says what the report rests on and how to check it.
func (b *builder) evidence() []Block {
	r, w := b.r, b.w
	t := &Table{ID: "t-bundles", Columns: []Column{{Title: w.Columns.Bundle}, {Title: w.Columns.Identity}, {Title: w.Columns.Interval}, {Title: w.Columns.Lock}}}
	var gaps []string
	for _, bundle := range r.Bundles {
		lock := Cell{Text: w.Names.Other}
		switch bundle.Lock {
		case "complete":
			lock.Text = w.Names.Complete
		case "incomplete":
			lock = Cell{Text: w.Names.Incomplete, Tone: Alert}
		}
		gaps = append(gaps, visibleAll(bundle.LockGaps)...)
		t.Rows = append(t.Rows, Row{[]Cell{{Text: Visible(bundle.Name)}, {Text: Visible(bundle.Identity), Tone: Mono}, b.interval(bundle), lock}})
	}
	blocks := []Block{Paragraph{b.checked()}, t,
		Paragraph{w.Sentences.Verify},
		Code{"pairbench verify BUNDLE\ncd BUNDLE && sha256sum -c manifest-sha256.txt && sha256sum -c tagmanifest-sha256.txt\nsha256sum tagmanifest-sha256.txt"},
		Paragraph{w.Sentences.VerifyByHand}}
	lock := w.Sentences.LockComplete
	if len(gaps) > 0 {
		lock = w.Sentences.LockIncomplete(len(gaps))
	}
	covers := w.Sentences.LockCovers
	if b.imported() {
		covers = ""
	}
	blocks = append(blocks, Paragraph{b.sentences(covers, lock)})
	if len(gaps) > 0 {
		blocks = append(blocks, Details{w.Columns.Gaps + " (" + numfmt.Count(int64(len(gaps))) + ")", []Block{List{gaps}}})
	}
	if d := b.inputs(); d != nil {
		blocks = append(blocks, *d)
	}
	return blocks
}

// interval is when a bundle's processes ran; an imported one may not say.
func (b *builder) interval(bundle report.Bundle) Cell {
	if bundle.StartedAt.IsZero() {
		return Cell{Text: b.w.Names.Absent, Tone: Quiet}
	}
	return Cell{Text: utc(bundle.StartedAt, bundle.EndedAt)}
}

func (b *builder) inputs() *Details {
	w := b.w
	if len(b.r.Scope.Inputs) == 0 {
		return nil
	}
	t := &Table{ID: "t-inputs", Filter: true, Columns: []Column{{Title: w.Columns.Kind}, {Title: w.Columns.Name}, {Title: w.Columns.Side}, {Title: w.Columns.Hash}}}
	for _, in := range b.r.Scope.Inputs {
		cell := Cell{Text: w.Names.Absent, Tone: Quiet}
		switch {
		case in.SHA256 != nil:
			cell = Cell{Text: Visible(*in.SHA256), Tone: Mono}
		case in.Value != nil:
			cell = Cell{Text: Visible(*in.Value), Tone: Mono}
		}
		if in.Gap != nil {
			cell.Text += " (" + Visible(*in.Gap) + ")"
			cell.Tone = Alert
		}
		who := ""
		if in.Side != nil {
			who = Visible(*in.Side)
		}
		t.Rows = append(t.Rows, Row{[]Cell{{Text: Visible(in.Kind)}, {Text: Visible(in.Name)}, {Text: who}, cell}})
	}
	return &Details{w.Headings.Inputs + " (" + numfmt.Count(int64(len(t.Rows))) + ")", []Block{t}}
}

// limits says what the numbers do not show.
func (b *builder) limits() []Block {
	l := b.w.Scope
	items := []string{l.LimitChange}
	switch {
	case b.r.Study.AA:
		items[0] = l.LimitChangeAA
	case b.all(wholeRuns):
		items[0] = l.LimitChangeRuns
	}
	open, closed := 0, 0
	for i := range b.r.Suites {
		switch s := &b.r.Suites[i]; {
		case scheduled(s):
			open++
		case hasLatency(s):
			closed++
		}
	}
	if !b.imported() && closed > 0 {
		items = append(items, l.LimitSaturation)
	}
	if open > 0 {
		items = append(items, b.w.OpenLoop.Limit)
	}
	items = append(items, l.LimitHost)
	rss := false
	for _, id := range b.metricIDs() {
		rss = rss || id == "peak_rss"
	}
	if rss {
		items = append(items, l.LimitRSS)
	}
	if b.r.Totals.UnderOneSecond > 0 {
		items = append(items, l.LimitShort)
	}
	if b.imported() {
		items = append(items, l.LimitImported)
	}
	return []Block{List{items}}
}

func numberOf(v int64) *big.Rat { return new(big.Rat).SetInt64(v) }
