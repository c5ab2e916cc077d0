package layout

import (
	"slices"
	"strconv"
	"strings"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/i18n"
	"pairbench/render/numfmt"
)

// text picks a plan's words in the builder's language: that language, English,
// then the fallback.
func (b *builder) text(t map[string]string, fallback string) string {
	return Visible(pick(t, b.w.Tag, fallback))
}

func pick(t map[string]string, tag, fallback string) string {
	if s := t[tag]; s != "" {
		return s
	}
	if s := t[i18n.English]; s != "" {
		return s
	}
	return fallback
}

// arm is what the reader is told a side is. In an A/A study both ran A's arm,
// whatever the plan calls the other, so the sides are told apart by letter.
func (b *builder) arm(side int) string {
	if b.r.Study.AA {
		return b.w.Sentences.ArmAA(b.plannedArm(0), string(records.Sides[side]))
	}
	return b.plannedArm(side)
}

func (b *builder) plannedArm(side int) string {
	a := b.r.Study.Arms[side]
	return b.text(a.Label, a.Name)
}

func (b *builder) suiteTitle(s *report.Suite) string { return b.text(s.Title, s.ID) }

// factor is the name of a factor in column titles.
func (b *builder) factor(f records.RunFactor) string {
	return b.text(f.Label, b.w.Names.Factor(f.Name))
}

// factorValue writes a factor's value: the plan's words for it, a size, a
// duration, or the value as it stands.
func (b *builder) factorValue(s *report.Suite, i int, value string) string {
	f := s.Factors[i]
	if words, ok := f.ValueLabels[value]; ok {
		return b.text(words, value)
	}
	if f.Kind == records.FactorInt && (f.Unit == "bytes" || strings.HasSuffix(f.Name, "_bytes")) {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return numfmt.Profile(s.Profile).Payload(n)
		}
	}
	if f.Name == "cadence" {
		if words, ok := b.w.Names.Cadence(value); ok {
			return words
		}
	}
	switch f.Unit {
	case "ns", "us", "ms", "s", "%":
		value += " " + f.Unit
	}
	return Visible(value)
}

// factorColumn is one column of factors: a factor, or the pair of connections
// and outstanding, which readers know as 4/16.
type factorColumn struct {
	title   string
	indices []int // into Suite.Factors
}

const (
	connections = "connections"
	outstanding = "outstanding"
)

// factorColumns lists the factors that vary, in the order of the plan. skip
// names factors to leave out.
func (b *builder) factorColumns(s *report.Suite, skip []string) []factorColumn {
	skipped := func(f records.RunFactor) bool {
		if f.Constant {
			return true
		}
		for _, name := range skip {
			if name == f.Name {
				return true
			}
		}
		return false
	}
	var columns []factorColumn
	for i, f := range s.Factors {
		if skipped(f) {
			continue
		}
		last := len(columns) - 1
		if f.Name == outstanding && last >= 0 && s.Factors[columns[last].indices[0]].Name == connections {
			columns[last] = factorColumn{title: b.connectionsOutstanding(s, columns[last].indices[0], i), indices: []int{i - 1, i}}
			continue
		}
		columns = append(columns, factorColumn{title: b.factor(f), indices: []int{i}})
	}
	return columns
}

func (b *builder) connectionsOutstanding(s *report.Suite, c, o int) string {
	plain := func(i int) bool {
		label := b.factor(s.Factors[i])
		return label == b.w.Names.Factor(s.Factors[i].Name)
	}
	if plain(c) && plain(o) {
		return b.w.Columns.ConnectionsOutstanding
	}
	return b.factor(s.Factors[c]) + "/" + b.factor(s.Factors[o])
}

// factorText writes a cell's value in a factor column: 4 KiB, 4/16.
func (b *builder) factorText(s *report.Suite, col factorColumn, c *report.Cell) string {
	parts := make([]string, len(col.indices))
	for k, i := range col.indices {
		parts[k] = b.factorValue(s, i, c.Factors[i].Value)
	}
	return strings.Join(parts, "/")
}

// factorSort orders a factor column by number where the first value is one.
func factorSort(col factorColumn, c *report.Cell) *float64 {
	total := 0.0
	for _, i := range col.indices {
		v, err := strconv.ParseFloat(c.Factors[i].Value, 64)
		if err != nil {
			return nil
		}
		total = total*1e6 + v
	}
	return &total
}

// cellTitle names a cell by the factors that vary, or by its id when none does.
func (b *builder) cellTitle(s *report.Suite, c *report.Cell) string {
	return b.cellLabel(s, c, nil, " · ")
}

func (b *builder) cellLabel(s *report.Suite, c *report.Cell, skip []string, join string) string {
	var parts []string
	for _, col := range b.factorColumns(s, skip) {
		parts = append(parts, b.factorText(s, col, c))
	}
	if len(parts) == 0 && skip == nil {
		return Visible(c.ID)
	}
	return strings.Join(parts, join)
}

// cellName is a cell's title by its id; an id that the suite does not have is
// shown as it is.
func (b *builder) cellName(s *report.Suite, id string) string {
	for i := range s.Cells {
		if s.Cells[i].ID == id {
			return b.cellTitle(s, &s.Cells[i])
		}
	}
	return Visible(id)
}

// panelTitle names a panel by the values of its factors.
func (b *builder) panelTitle(s *report.Suite, p *report.PanelResult) string {
	var parts []string
	for _, v := range p.Factors {
		for i, f := range s.Factors {
			if f.Name != v.Name {
				continue
			}
			shown := b.factorValue(s, i, v.Value)
			if f.Kind == records.FactorInt && f.Unit != "bytes" && !strings.HasSuffix(f.Name, "_bytes") {
				shown = b.factor(f) + " " + shown
			}
			parts = append(parts, shown)
		}
	}
	return strings.Join(parts, " · ")
}

// wordsFor are the words that fit the report: where a suite has a schedule, two
// times of a request are told apart.
func wordsFor(r *report.Report, w *i18n.Words) *i18n.Words {
	for i := range r.Suites {
		if scheduled(&r.Suites[i]) {
			return w.Scheduled()
		}
	}
	return w
}

// scheduled reports whether the requests of a suite had a schedule.
func scheduled(s *report.Suite) bool {
	return metricIndex(s, "response_p50") >= 0 || metricIndex(s, "response_p99") >= 0
}

// hasLatency reports whether a suite shows what single requests took.
func hasLatency(s *report.Suite) bool {
	return slices.ContainsFunc(s.Metrics, func(m report.Metric) bool {
		return strings.HasPrefix(m.ID, "latency_") || strings.HasPrefix(m.ID, "response_")
	})
}

// wholeRuns reports whether a suite's processes are programs that are measured
// from start to end: there is no warm-up, and there are no requests to tell apart.
func wholeRuns(s *report.Suite) bool {
	return s.Workload == "command" && s.CPUScope == records.CPUScopeProcess && !hasLatency(s)
}

// all reports whether every suite is of the kind.
func (b *builder) all(kind func(*report.Suite) bool) bool {
	for i := range b.r.Suites {
		if !kind(&b.r.Suites[i]) {
			return false
		}
	}
	return len(b.r.Suites) > 0
}

func (b *builder) metric(m report.Metric) string { return Visible(b.w.Names.Metric(m.ID)) }

func (b *builder) style(s *report.Suite, m report.Metric) numfmt.Style {
	return numfmt.Profile(s.Profile).Metric(m.ID, m.Unit)
}

// metricTitle is a metric with its unit: Throughput (ops/s).
func (b *builder) metricTitle(s *report.Suite, m report.Metric) string {
	unit := b.w.Names.Unit(b.style(s, m).Unit)
	if unit == "" {
		return b.metric(m)
	}
	if b.w.Tag == i18n.SimplifiedChinese {
		return b.metric(m) + "（" + unit + "）"
	}
	return b.metric(m) + " (" + unit + ")"
}

func (b *builder) better(m report.Metric) string {
	switch m.Better {
	case "higher":
		return b.w.Sentences.BetterHigher
	case "lower":
		return b.w.Sentences.BetterLower
	default:
		return b.w.Sentences.BetterNeither
	}
}

// slug makes a fragment or a file name of any text: what is not a letter or
// digit of ASCII becomes a dash.
func slug(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			out.WriteRune(r)
		default:
			if s := out.String(); s != "" && !strings.HasSuffix(s, "-") {
				out.WriteByte('-')
			}
		}
		if out.Len() >= 60 {
			break
		}
	}
	if s := strings.Trim(out.String(), "-"); s != "" {
		return s
	}
	return "x"
}

// FileName is the base name of a suite's files about a metric, without
// extension. Suites whose ids differ only in odd characters would share it, so
// such a suite carries its number.
func FileName(r *report.Report, suite int, about string) string {
	id := slug(r.Suites[suite].ID)
	for other := range r.Suites {
		if other < suite && slug(r.Suites[other].ID) == id {
			id += "-" + strconv.Itoa(suite+1)
			break
		}
	}
	return id + "_" + slug(about)
}
