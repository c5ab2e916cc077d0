package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"pairbench/analyze"
	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/collect/plan"
	"pairbench/records"
)

func plansCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "plans",
		Usage: "list the built-in plans",
		Action: func(c *cli.Context) error {
			if _, err := words(c); err != nil {
				return err
			}
			w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
			for _, name := range plan.BuiltinNames() {
				source, _ := plan.Builtin(name)
				p, err := plan.Parse(source, name)
				if err != nil {
					return err
				}
				e := p.Estimate()
				fmt.Fprintf(w, "%s\t%d processes\tabout %s\t%s\n", name, e.Processes, roughly(e.Wall), p.Title["en"])
			}
			return w.Flush()
		},
	}
}

func planCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "show what would run: cells, order, counts, time",
		ArgsUsage: "PLAN",
		Flags: append(selectionFlags(),
			&cli.BoolFlag{Name: "json", Usage: "print the expanded plan as JSON"},
			&cli.StringFlag{Name: "from", Usage: "say what change could be detected, from the former analysis in `ANALYSIS`"}),
		Action: func(c *cli.Context) error {
			args, err := words(c, "PLAN")
			if err != nil {
				return err
			}
			p, err := loadPlan(c, args[0])
			if err != nil {
				return err
			}
			if err := p.Runnable(visible(args[0])); err != nil {
				return err
			}
			var former *report.Report
			if c.IsSet("from") {
				if former, err = readReport(c.String("from")); err != nil {
					return err
				}
			}
			if c.Bool("json") {
				return printJSON(s.out, expandPlan(p))
			}
			if err := printPlan(s.out, p); err != nil {
				return err
			}
			return printDetectable(s.out, p.Rounds, former)
		},
	}
}

// expandedPlan is what plan --json prints.
type expandedPlan struct {
	Study            string           `json:"study"`
	PlanSHA256       string           `json:"plan_sha256"`
	Profile          string           `json:"profile"`
	Layout           string           `json:"layout"`
	Arms             [2]expandedArm   `json:"arms"`
	Rounds           int              `json:"rounds"`
	Order            records.RunOrder `json:"order"`
	Processes        int              `json:"processes"`
	Operations       int64            `json:"operations"`
	WarmupOperations int64            `json:"warmup_operations"`
	MeasuredNs       int64            `json:"measured_ns"`
	WarmupNs         int64            `json:"warmup_ns"`
	EstimatedWallNs  int64            `json:"estimated_wall_ns"`
	BusyThreads      int              `json:"busy_threads"`
	Cores            int              `json:"cores"`
	Suites           []expandedSuite  `json:"suites"`
	Starts           []expandedStart  `json:"starts"`
}

type expandedArm struct {
	Side records.Side `json:"side"`
	Name string       `json:"name"`
}

type expandedSuite struct {
	ID       string         `json:"id"`
	Workload string         `json:"workload"`
	Cells    []expandedCell `json:"cells"`
}

type expandedCell struct {
	CellID                  string         `json:"cell_id"`
	Factors                 map[string]any `json:"factors"`
	PlannedOperations       *int64         `json:"planned_operations,omitempty"`
	PlannedWarmupOperations *int64         `json:"planned_warmup_operations,omitempty"`
	PlannedDurationNs       *int64         `json:"planned_duration_ns,omitempty"`
	PlannedWarmupDurationNs *int64         `json:"planned_warmup_duration_ns,omitempty"`
	OperationsPerSample     int64          `json:"operations_per_sample"`
}

type expandedStart struct {
	Slot        int32        `json:"slot"`
	ProcessNo   int32        `json:"process_no"`
	Suite       string       `json:"suite"`
	CellID      string       `json:"cell_id"`
	Side        records.Side `json:"side"`
	Arm         string       `json:"arm"`
	Round       int32        `json:"round"`
	FirstInPair bool         `json:"first_in_pair"`
}

func expandPlan(p *plan.Plan) expandedPlan {
	e := p.Estimate()
	out := expandedPlan{
		Study: p.Study, PlanSHA256: p.SHA256, Profile: p.Profile, Layout: p.Layout, Rounds: p.Rounds, Order: p.Order,
		Processes: e.Processes, Operations: e.Operations, WarmupOperations: e.WarmupOperations,
		MeasuredNs: e.Measured.Nanoseconds(), WarmupNs: e.Warmup.Nanoseconds(), EstimatedWallNs: e.Wall.Nanoseconds(),
		BusyThreads: e.BusyThreads, Cores: runtime.NumCPU(),
	}
	for i, a := range p.Arms {
		out.Arms[i] = expandedArm{Side: a.Side, Name: a.Name}
	}
	for _, suite := range p.Suites {
		s := expandedSuite{ID: suite.ID, Workload: suite.Workload}
		for _, cell := range suite.Cells {
			factors := map[string]any{}
			for _, f := range cell.Factors {
				factors[f.Name] = factorJSON(f.Value)
			}
			s.Cells = append(s.Cells, expandedCell{
				CellID: cell.CellID, Factors: factors,
				PlannedOperations: cell.PlannedOperations, PlannedWarmupOperations: cell.PlannedWarmupOperations,
				PlannedDurationNs: cell.PlannedDurationNs, PlannedWarmupDurationNs: cell.PlannedWarmupDurationNs,
				OperationsPerSample: cell.OperationsPerSample,
			})
		}
		out.Suites = append(out.Suites, s)
	}
	for _, start := range p.Starts() {
		suite := p.Suites[start.SuiteNo]
		out.Starts = append(out.Starts, expandedStart{
			Slot: start.Slot, ProcessNo: start.ProcessNo, Suite: suite.ID, CellID: suite.Cells[start.CellNo].CellID,
			Side: start.Side, Arm: armOf(p, start.Side).Name, Round: start.Round, FirstInPair: start.FirstInPair,
		})
	}
	return out
}

func factorJSON(v records.FactorValue) any {
	switch v.Kind {
	case records.FactorInt:
		return v.Int
	case records.FactorFloat:
		return v.Float
	case records.FactorBool:
		return v.Bool
	default:
		return v.Str
	}
}

func printPlan(w io.Writer, p *plan.Plan) error {
	e := p.Estimate()
	fmt.Fprintf(w, "study   %s: %s (A) against %s (B)\n", visible(p.Study), visible(p.Arms[0].Name), visible(p.Arms[1].Name))
	fmt.Fprintf(w, "plan    sha256 %s\n", p.SHA256)
	order := p.Order.Kind
	if p.Order.Seed != nil {
		order += fmt.Sprintf(", seed %d", *p.Order.Seed)
	}
	fmt.Fprintf(w, "order   %s, %d rounds\n", order, p.Rounds)
	fmt.Fprintf(w, "total   %d cells x 2 arms x %d rounds = %d processes\n", e.Cells, p.Rounds, e.Processes)
	if e.Operations > 0 {
		fmt.Fprintf(w, "counts  %d measured and %d warm-up operations\n", e.Operations, e.WarmupOperations)
	}
	if e.Measured > 0 {
		fmt.Fprintf(w, "times   %s measured and %s warm-up\n", e.Measured, e.Warmup)
	}
	fmt.Fprintf(w, "time    about %s\n", roughly(e.Wall))
	if cores := runtime.NumCPU(); e.BusyThreads > cores {
		fmt.Fprintf(w, "cores   %d busy threads on %d cores: threads take turns, so figures are not\n        comparable with those of a machine that has a core for each\n", e.BusyThreads, cores)
	}
	starts := p.Starts()
	for i, suite := range p.Suites {
		fmt.Fprintf(w, "\nsuite %s  workload %s\n", visible(suite.ID), visible(suite.Workload))
		table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		fmt.Fprintln(table, "  cell\tmeasured\twarm-up\torder of the rounds")
		for j, cell := range suite.Cells {
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", visible(cell.CellID), amount(cell.Measure), amount(cell.Warmup), orderOf(starts, i, j))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// orderOf writes the rounds of a cell as AB or BA in the order of execution.
func orderOf(starts []plan.Start, suiteNo, cellNo int) string {
	var pairs []string
	for _, s := range starts {
		if s.SuiteNo == suiteNo && s.CellNo == cellNo && s.FirstInPair {
			pairs = append(pairs, string(s.Side)+string(s.Side.Other()))
		}
	}
	return strings.Join(pairs, " ")
}

func amount(a plan.Amount) string {
	switch {
	case a.Operations > 0:
		return fmt.Sprint(a.Operations)
	case a.Duration > 0:
		return a.Duration.String()
	default:
		return "none"
	}
}

// roughly rounds a guessed time to what a guess deserves.
func roughly(d time.Duration) time.Duration {
	switch {
	case d > time.Hour:
		return d.Round(5 * time.Minute)
	case d > 2*time.Minute:
		return d.Round(30 * time.Second)
	default:
		return d.Round(time.Second)
	}
}

func armOf(p *plan.Plan, side records.Side) plan.Arm {
	if side == records.SideA {
		return p.Arms[0]
	}
	return p.Arms[1]
}

// printDetectable says before a run what change its rounds could detect: in
// units of the spread between equal processes, and in percent where a former
// analysis tells that spread.
func printDetectable(w io.Writer, rounds int, former *report.Report) error {
	fmt.Fprintln(w)
	effect, ok := stat.DetectableEffect(stat.TwoSample, rounds, 0.05, 0.80)
	if !ok {
		_, err := fmt.Fprintf(w, "detect  nothing: %d rounds show no spread between equal processes\n", rounds)
		return err
	}
	fmt.Fprintf(w, "detect  with %d rounds, changes above %.2f times the standard deviation of equal\n        processes, in four of five collections (two-sided, 5 %%)\n", rounds, effect)
	if former == nil {
		_, err := fmt.Fprintln(w, "        --from ANALYSIS says it in percent, from what a former analysis shows")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "  suite\tmetric\tmiddle cell\tnoisiest cell\tcells")
	for _, d := range analyze.DetectableChanges(former, rounds) {
		fmt.Fprintf(table, "  %s\t%s\t%.2f%%\t%.2f%%\t%d\n", visible(d.Suite), d.Metric, d.MedianPct, d.WorstPct, d.Cells)
	}
	return table.Flush()
}
