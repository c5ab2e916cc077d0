package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pairbench/records"
)

// Bounds on what a few lines of a plan can ask for.
const (
	maxCells  = 100_000
	maxStarts = 1_000_000
)

func itoa(i int) string { return strconv.Itoa(i) }

// axis is one dimension of a suite's matrix: one factor, or several that a
// combination binds, with the tuples they take.
type axis struct {
	names  []string
	tuples [][]records.FactorValue
}

// cells builds the suite's factors and cells.
func (d *decoder) cells(n *node, path string, s *Suite) error {
	b := &matrix{decoder: d, path: path, values: make(map[string][]records.FactorValue)}
	if err := b.declare(n); err != nil {
		return err
	}
	if err := b.combine(n.get("combinations")); err != nil {
		return err
	}
	if err := b.constants(n.get("constants")); err != nil {
		return err
	}
	s.Factors = b.factors
	tuples, err := b.cross(n)
	if err != nil {
		return err
	}
	if tuples, err = b.exclude(n.get("exclude"), tuples); err != nil {
		return err
	}
	if len(tuples) == 0 {
		return d.fail(n.get("exclude"), path+".exclude", "no cell left", "at least one cell")
	}
	for _, factors := range tuples {
		s.Cells = append(s.Cells, Cell{Cell: records.Cell{Suite: s.ID, Factors: factors, OperationsPerSample: 1}})
	}
	if err := b.batches(n.get("operations_per_sample"), s); err != nil {
		return err
	}
	if err := b.identify(n.get("cell_id"), s); err != nil {
		return err
	}
	return b.amounts(n, s)
}

// matrix collects a suite's factors, in the order of the plan, and the axes
// they vary along.
type matrix struct {
	*decoder
	path    string
	factors []records.RunFactor
	open    []string // declared, and without values so far
	axes    []axis
	values  map[string][]records.FactorValue
}

func (b *matrix) names() string {
	names := make([]string, len(b.factors))
	for i, f := range b.factors {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

func (b *matrix) factor(name string) *records.RunFactor {
	for i := range b.factors {
		if b.factors[i].Name == name {
			return &b.factors[i]
		}
	}
	return nil
}

func (b *matrix) declare(n *node) error {
	factors := n.get("factors")
	if factors == nil {
		return nil
	}
	for i, name := range factors.keys {
		item := factors.items[i]
		path := join(b.path+".factors", name)
		if isPlaceholder(name) {
			return b.fail(factors.keyNodes[i], path, "the reserved name "+quote(name), "another name")
		}
		list := item
		f := records.RunFactor{Name: name}
		if item.kind == kindMapping {
			list = item.get("values")
			f.Unit = item.get("unit").text("")
			f.Label = item.get("label").words()
			f.ValueLabels = valueLabels(item.get("value_labels"))
		}
		b.factors = append(b.factors, f)
		if list == nil {
			b.open = append(b.open, name)
			continue
		}
		values, err := b.typed(&b.factors[len(b.factors)-1], list.items, path)
		if err != nil {
			return err
		}
		tuples := make([][]records.FactorValue, len(values))
		seen := make(map[records.FactorValue]bool, len(values))
		for k, v := range values {
			if seen[v] {
				return b.fail(list.items[k], fmt.Sprintf("%s[%d]", path, k), list.items[k].found()+" a second time", "each value once")
			}
			seen[v] = true
			tuples[k] = []records.FactorValue{v}
		}
		b.axes = append(b.axes, axis{[]string{name}, tuples})
	}
	return nil
}

func valueLabels(n *node) map[string]map[string]string {
	if n == nil {
		return nil
	}
	out := make(map[string]map[string]string, len(n.keys))
	for i, k := range n.keys {
		out[k] = n.items[i].words()
	}
	return out
}

// typed reads a factor's values, which must be of one kind; integers beside
// floats are floats.
func (b *matrix) typed(f *records.RunFactor, items []*node, path string) ([]records.FactorValue, error) {
	kinds := map[nodeKind]records.FactorKind{
		kindInt: records.FactorInt, kindFloat: records.FactorFloat,
		kindBool: records.FactorBool, kindString: records.FactorString,
	}
	f.Kind = kinds[items[0].kind]
	for _, item := range items {
		if f.Kind == records.FactorInt && item.kind == kindFloat {
			f.Kind = records.FactorFloat
		}
	}
	out := make([]records.FactorValue, len(items))
	for i, item := range items {
		switch kind := kinds[item.kind]; {
		case kind == f.Kind && kind == records.FactorInt:
			out[i] = records.IntFactor(item.num)
		case f.Kind == records.FactorFloat && (kind == records.FactorFloat || kind == records.FactorInt):
			out[i] = records.FloatFactor(item.number())
		case kind == f.Kind && kind == records.FactorBool:
			out[i] = records.BoolFactor(item.flag)
		case kind == f.Kind && kind == records.FactorString:
			out[i] = records.StringFactor(item.str)
		default:
			return nil, b.fail(item, fmt.Sprintf("%s[%d]", path, i), string(item.kind), string(items[0].kind)+", as the factor's first value")
		}
	}
	return out, nil
}

func (b *matrix) combine(n *node) error {
	if n == nil {
		n = &node{}
	}
	for i, item := range n.items {
		path := fmt.Sprintf("%s.combinations[%d]", b.path, i)
		names := item.get("factors")
		a := axis{names: names.strings()}
		for k, name := range a.names {
			at := slices.Index(b.open, name)
			switch {
			case b.factor(name) == nil:
				if isPlaceholder(name) {
					return b.fail(names.items[k], fmt.Sprintf("%s.factors[%d]", path, k), "the reserved name "+quote(name), "another name")
				}
				b.factors = append(b.factors, records.RunFactor{Name: name})
			case at < 0 || slices.Contains(a.names[:k], name):
				return b.fail(names.items[k], fmt.Sprintf("%s.factors[%d]", path, k),
					"the factor "+quote(name)+", which has its values already", "a factor that nothing else gives values")
			default:
				b.open = slices.Delete(b.open, at, at+1)
			}
		}
		rows := item.get("values")
		for r, row := range rows.items {
			if len(row.items) != len(a.names) {
				return b.fail(row, fmt.Sprintf("%s.values[%d]", path, r), fmt.Sprintf("%d values", len(row.items)), fmt.Sprintf("%d, one for each factor", len(a.names)))
			}
			a.tuples = append(a.tuples, make([]records.FactorValue, len(a.names)))
		}
		for k, name := range a.names {
			column := make([]*node, len(rows.items))
			for r, row := range rows.items {
				column[r] = row.items[k]
			}
			values, err := b.typed(b.factor(name), column, path+".values")
			if err != nil {
				return err
			}
			for r, v := range values {
				a.tuples[r][k] = v
			}
		}
		seen := make(map[string]bool)
		for r, tuple := range a.tuples {
			key := tupleKey(tuple)
			if seen[key] {
				return b.fail(rows.items[r], fmt.Sprintf("%s.values[%d]", path, r), "the same values a second time (a duplicate cell)", "each combination once")
			}
			seen[key] = true
		}
		b.axes = append(b.axes, a)
	}
	for i := range b.factors {
		name := b.factors[i].Name
		if slices.Contains(b.open, name) {
			return b.fail(n, join(b.path+".factors", name), "no values", "values here or in a combination")
		}
	}
	return nil
}

// tupleKey is equal for equal tuples only.
func tupleKey(tuple []records.FactorValue) string {
	var key strings.Builder
	for _, v := range tuple {
		s := v.String()
		fmt.Fprintf(&key, "%s:%d:%s,", v.Kind, len(s), s)
	}
	return key.String()
}

func (b *matrix) constants(n *node) error {
	if n == nil {
		return nil
	}
	for i, name := range n.keys {
		path := join(b.path+".constants", name)
		if b.factor(name) != nil || isPlaceholder(name) {
			return b.fail(n.keyNodes[i], path, "the name "+quote(name)+", which is taken", "another name")
		}
		item := n.items[i]
		f := records.RunFactor{Name: name, Constant: true}
		if item.kind == kindMapping {
			f.Unit = item.get("unit").text("")
			f.Label = item.get("label").words()
			f.ValueLabels = valueLabels(item.get("value_labels"))
			item = item.get("value")
		}
		values, err := b.typed(&f, []*node{item}, path)
		if err != nil {
			return err
		}
		b.factors = append(b.factors, f)
		b.axes = append(b.axes, axis{[]string{name}, [][]records.FactorValue{values}})
	}
	return nil
}

// cross multiplies the axes; the first factor of the plan varies slowest.
func (b *matrix) cross(n *node) ([][]records.Factor, error) {
	order := make(map[string]int, len(b.factors))
	for i, f := range b.factors {
		order[f.Name] = i
	}
	slices.SortStableFunc(b.axes, func(x, y axis) int { return order[x.names[0]] - order[y.names[0]] })
	total := 1
	for _, a := range b.axes {
		if total *= len(a.tuples); total > maxCells {
			return nil, b.fail(n, b.path+".factors", fmt.Sprintf("more than %d cells", maxCells), fmt.Sprintf("at most %d", maxCells))
		}
	}
	cells := make([][]records.Factor, total)
	for i := range cells {
		cells[i] = make([]records.Factor, len(b.factors))
		rest := i
		for k := len(b.axes) - 1; k >= 0; k-- {
			a := b.axes[k]
			tuple := a.tuples[rest%len(a.tuples)]
			rest /= len(a.tuples)
			for m, name := range a.names {
				cells[i][order[name]] = records.Factor{Name: name, Value: tuple[m]}
			}
		}
	}
	return cells, nil
}

func (b *matrix) exclude(n *node, cells [][]records.Factor) ([][]records.Factor, error) {
	if n == nil {
		return cells, nil
	}
	for i, item := range n.items {
		path := fmt.Sprintf("%s.exclude[%d]", b.path, i)
		cond, err := b.condition(item, path)
		if err != nil {
			return nil, err
		}
		before := len(cells)
		cells = slices.DeleteFunc(cells, func(f []records.Factor) bool { return cond.matches(f) })
		if len(cells) == before {
			return nil, b.fail(item, path, "a condition that no cell meets", "values that occur")
		}
	}
	return cells, nil
}

// condition is a `when`: every named factor has one of the texts.
type condition map[string][]string

func (c condition) matches(factors []records.Factor) bool {
	for name, wanted := range c {
		i := slices.IndexFunc(factors, func(f records.Factor) bool { return f.Name == name })
		if i < 0 || !slices.Contains(wanted, factors[i].Value.String()) {
			return false
		}
	}
	return true
}

func (b *matrix) condition(n *node, path string) (condition, error) {
	c := make(condition, len(n.keys))
	for i, name := range n.keys {
		f := b.factor(name)
		key := join(path, name)
		if f == nil {
			return nil, b.fail(n.keyNodes[i], key, "the unknown factor "+quote(name), "one of "+b.names())
		}
		items := n.items[i].items
		if n.items[i].kind != kindList {
			items = []*node{n.items[i]}
		}
		for _, item := range items {
			text, err := b.valueOf(f, item, key)
			if err != nil {
				return nil, err
			}
			c[name] = append(c[name], text)
		}
	}
	return c, nil
}

// valueOf reads a node as a value of the factor, which must take it somewhere.
func (b *matrix) valueOf(f *records.RunFactor, n *node, path string) (string, error) {
	var text string
	switch {
	case f.Kind == records.FactorFloat && (n.kind == kindFloat || n.kind == kindInt):
		text = records.FloatFactor(n.number()).String()
	case f.Kind == records.FactorInt && n.kind == kindInt:
		text = records.IntFactor(n.num).String()
	case f.Kind == records.FactorBool && n.kind == kindBool:
		text = records.BoolFactor(n.flag).String()
	case f.Kind == records.FactorString && n.kind == kindString:
		text = n.str
	default:
		return "", b.fail(n, path, n.found(), fmt.Sprintf("a value of the %s factor %s", f.Kind, f.Name))
	}
	for _, a := range b.axes {
		k := slices.Index(a.names, f.Name)
		if k < 0 {
			continue
		}
		var known []string
		for _, tuple := range a.tuples {
			if v := tuple[k].String(); v == text {
				return text, nil
			} else if !slices.Contains(known, v) && len(known) < 10 {
				known = append(known, v)
			}
		}
		return "", b.fail(n, path, n.found(), "a value that the factor takes: "+strings.Join(known, ", "))
	}
	return text, nil
}

func (b *matrix) batches(n *node, s *Suite) error {
	if n == nil {
		return nil
	}
	path := b.path + ".operations_per_sample"
	for i := range s.Cells {
		c := &s.Cells[i]
		if n.kind == kindInt {
			c.OperationsPerSample = n.num
			continue
		}
		v, ok := c.Factor(n.str)
		if !ok {
			return b.fail(n, path, "the unknown factor "+quote(n.str), "a number, or one of "+b.names())
		}
		if v.Kind != records.FactorInt || v.Int < 1 {
			return b.fail(n, path, fmt.Sprintf("the factor %s with the value %s", n.str, v), "a factor with whole numbers above zero")
		}
		c.OperationsPerSample = v.Int
	}
	return nil
}

var cellPlaceholder = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)

// identify gives every cell an id that is safe as a relative path on every
// system and distinct from the others, also where letter case is ignored.
func (b *matrix) identify(n *node, s *Suite) error {
	template := ""
	if n != nil {
		template = n.str
		for _, name := range cellPlaceholder.FindAllString(template, -1) {
			if b.factor(strings.Trim(name, "{}")) == nil {
				return b.fail(n, b.path+".cell_id", "the unknown factor "+name, "one of "+b.names())
			}
		}
	}
	owner := make(map[string]int)
	for i := range s.Cells {
		c := &s.Cells[i]
		if template == "" {
			c.CellID = b.defaultID(c.Factors)
		} else {
			c.CellID = cellPlaceholder.ReplaceAllStringFunc(template, func(name string) string {
				v, _ := c.Factor(strings.Trim(name, "{}"))
				return safeSegment(v)
			})
		}
		if template != "" && !safeID(c.CellID) {
			return b.fail(n, b.path+".cell_id", "the cell id "+quote(c.CellID), "path segments that are neither empty nor dots nor reserved names")
		}
		folded := strings.ToLower(c.CellID)
		other, taken := owner[folded]
		switch {
		case !taken:
			owner[folded] = i
		case template != "" && s.Cells[other].CellID == c.CellID:
			return b.fail(n, b.path+".cell_id", "the id "+quote(c.CellID)+" for two cells", "a template that names every varying factor")
		default:
			c.CellID += "-" + shortHash(tupleKeyOf(c.Factors))
			owner[strings.ToLower(c.CellID)] = i
		}
	}
	return nil
}

func tupleKeyOf(factors []records.Factor) string {
	values := make([]records.FactorValue, len(factors))
	for i, f := range factors {
		values[i] = f.Value
	}
	return tupleKey(values)
}

func (b *matrix) defaultID(factors []records.Factor) string {
	var parts []string
	for _, f := range factors {
		if !b.factor(f.Name).Constant {
			parts = append(parts, f.Name+"-"+safeSegment(f.Value))
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, "/")
}

var (
	plainValue = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*[A-Za-z0-9_-]$|^[A-Za-z0-9]$`)
	unsafeRun  = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	reserved   = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
	hashTail   = regexp.MustCompile(`-[0-9a-f]{10}$`)
)

// maxPlainValue bounds in bytes the values that stand in a path as they are.
const maxPlainValue = 48

// safeSegment writes a value so that it can stand in a path: as it is where it
// is plain, else as what is readable of it and ten digits of its hash.
func safeSegment(v records.FactorValue) string {
	s := v.String()
	if v.Kind == records.FactorInt || len(s) <= maxPlainValue && plainValue.MatchString(s) && !reserved.MatchString(s) && !hashTail.MatchString(s) {
		return s
	}
	readable := strings.Trim(unsafeRun.ReplaceAllString(s, "_"), "._-")
	if reserved.MatchString(readable) {
		readable = strings.ReplaceAll(readable, ".", "_")
	}
	if len(readable) > 40 {
		readable = readable[:40]
	}
	switch {
	case s == "":
		readable = "empty"
	case readable == "":
		readable = "x"
	}
	return readable + "-" + shortHash(s)
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:5])
}

func safeID(id string) bool {
	for _, segment := range strings.Split(id, "/") {
		if strings.Trim(segment, ".") == "" || reserved.MatchString(segment) || strings.HasSuffix(segment, ".") || segment[0] == '-' {
			return false
		}
	}
	return true
}

func (b *matrix) amounts(n *node, s *Suite) error {
	measure := b.path + ".measure"
	rules, err := b.rules(n.get("measure"), measure)
	if err != nil {
		return err
	}
	warm, err := b.rules(n.get("warmup"), b.path+".warmup")
	if err != nil {
		return err
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		var ok bool
		if c.Measure, ok = pick(rules, c.Factors); !ok {
			return b.fail(n.get("measure"), measure, "no rule for the cell "+c.CellID, "a rule that matches every cell")
		}
		if c.Measure == (Amount{}) {
			return b.fail(n.get("measure"), measure, "nothing to measure in the cell "+c.CellID, "operations or a duration above zero")
		}
		if c.Warmup, ok = pick(warm, c.Factors); !ok && n.get("warmup") != nil {
			return b.fail(n.get("warmup"), b.path+".warmup", "no rule for the cell "+c.CellID, "a rule that matches every cell")
		}
		if c.Measure.Operations%c.OperationsPerSample != 0 || c.Warmup.Operations%c.OperationsPerSample != 0 {
			return b.fail(n.get("measure"), measure, fmt.Sprintf("%d and %d operations in the cell %s", c.Warmup.Operations, c.Measure.Operations, c.CellID),
				fmt.Sprintf("whole batches of %d", c.OperationsPerSample))
		}
		c.plan()
	}
	return nil
}

// plan writes the amounts into the cell's record.
func (c *Cell) plan() {
	c.PlannedOperations, c.PlannedDurationNs = c.Measure.planned()
	c.PlannedWarmupOperations, c.PlannedWarmupDurationNs = c.Warmup.planned()
	if c.Warmup == (Amount{}) {
		// No warm-up is known exactly: zero operations.
		zero := int64(0)
		c.PlannedWarmupOperations = &zero
	}
}

func (a Amount) planned() (operations, duration *int64) {
	if a.Duration > 0 {
		ns := a.Duration.Nanoseconds()
		return nil, &ns
	}
	if a.Operations > 0 {
		n := a.Operations
		return &n, nil
	}
	return nil, nil
}

type amountRule struct {
	when   condition
	amount Amount
}

func pick(rules []amountRule, factors []records.Factor) (Amount, bool) {
	for _, r := range rules {
		if r.when.matches(factors) {
			return r.amount, true
		}
	}
	return Amount{}, false
}

// rules reads the three ways to write an amount as one list of rules.
func (b *matrix) rules(n *node, path string) ([]amountRule, error) {
	if n == nil {
		return nil, nil
	}
	if n.kind == kindMapping {
		if by, table := n.get("by"), n.get("operations"); by != nil || table != nil && table.kind == kindList {
			return b.table(n, by, table, path)
		}
		a, err := b.amount(n, path)
		return []amountRule{{amount: a}}, err
	}
	var out []amountRule
	for i, item := range n.items {
		p := fmt.Sprintf("%s[%d]", path, i)
		var r amountRule
		var err error
		if w := item.get("when"); w != nil {
			if r.when, err = b.condition(w, p+".when"); err != nil {
				return nil, err
			}
		} else if i != len(n.items)-1 {
			return nil, b.fail(item, p, "a rule without when before the last", "the rule for all other cells last")
		}
		if r.amount, err = b.amount(item, p); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (b *matrix) table(n, by, table *node, path string) ([]amountRule, error) {
	if by == nil || table == nil || table.kind != kindList || n.get("duration") != nil {
		return nil, b.fail(n, path, "by, operations and duration that do not go together", "{by: [factors], operations: [[values, N], ...]}, {operations: N} or {duration: T}")
	}
	var out []amountRule
	for i, row := range table.items {
		p := fmt.Sprintf("%s.operations[%d]", path, i)
		if len(row.items) != len(by.items)+1 {
			return nil, b.fail(row, p, fmt.Sprintf("%d values", len(row.items)), fmt.Sprintf("%d: a value for each factor, then the count", len(by.items)+1))
		}
		cond := make(condition)
		for k, name := range by.items {
			f := b.factor(name.str)
			if f == nil {
				return nil, b.fail(name, fmt.Sprintf("%s.by[%d]", path, k), "the unknown factor "+quote(name.str), "one of "+b.names())
			}
			text, err := b.valueOf(f, row.items[k], p)
			if err != nil {
				return nil, err
			}
			cond[name.str] = []string{text}
		}
		count := row.items[len(row.items)-1]
		if count.kind != kindInt || count.num < 0 {
			return nil, b.fail(count, p, count.found(), "a count of operations")
		}
		out = append(out, amountRule{cond, Amount{Operations: count.num}})
	}
	return out, nil
}

func (b *matrix) amount(n *node, path string) (Amount, error) {
	ops, length := n.get("operations"), n.get("duration")
	switch {
	case ops != nil && length == nil && ops.kind == kindInt:
		return Amount{Operations: ops.num}, nil
	case ops == nil && length != nil:
		t, err := time.ParseDuration(length.str)
		if err != nil || t > 24*time.Hour {
			return Amount{}, b.fail(length, path+".duration", quote(length.str), "a duration of at most 24h")
		}
		return Amount{Duration: t}, nil
	default:
		return Amount{}, b.fail(n, path, "operations and duration that do not go together", "exactly one of operations and duration")
	}
}
