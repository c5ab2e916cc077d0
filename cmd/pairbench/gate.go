package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pairbench/analyze/gate"
	"pairbench/render/numfmt"
)

// gateWriters are the output formats of gate.
var gateWriters = map[string]func(io.Writer, gate.Result) error{
	"text":     writeGateText,
	"json":     func(w io.Writer, r gate.Result) error { return printJSON(w, r) },
	"markdown": writeGateMarkdown,
	"junit":    writeGateJUnit,
}

var gateExit = map[gate.Verdict]int{
	gate.Pass: exitOK, gate.Regression: exitRegression, gate.Inconclusive: exitInconclusive, gate.Invalid: exitIntegrity,
}

// gateWords say for people what methods and reasons are called in the JSON.
var gateWords = map[string]string{
	"range_ratio":    "range of ratios",
	"hodges_lehmann": "Hodges-Lehmann interval",

	gate.ReasonFailedProcesses: "processes failed",
	gate.ReasonArmMissing:      "an arm has no value",
	gate.ReasonNotComputable:   "no interval can be computed",
	gate.ReasonNotComparable:   "the bundles are not comparable",
	gate.ReasonNoSuchMetric:    "the analysis has no such suite and metric",
	gate.ReasonTooFew:          "too few processes",
	gate.ReasonStraddles:       "the limit lies in the interval",
	gate.ReasonInsideFloor:     "an A/A collection changes as much",
}

func verdictWords(v gate.Verdict) string { return strings.ReplaceAll(string(v), "_", " ") }

func gateCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "gate",
		Usage:     "hold an analysis against thresholds: pass 0, regression 5, inconclusive 6, invalid evidence 3",
		ArgsUsage: "ANALYSIS",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "require", Usage: "a `THRESHOLD`: [SUITE:]METRIC >= -2% | <= +5% | within 3% (may be repeated)"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "write `FORMAT`: text, json, markdown or junit"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE` instead of standard output"},
		},
		Action: func(c *cli.Context) error {
			args, err := words(c, "ANALYSIS")
			if err != nil {
				return err
			}
			write, ok := gateWriters[c.String("format")]
			if !ok {
				return usagef("gate --format: found %q, expected text, json, markdown or junit", c.String("format"))
			}
			if len(c.StringSlice("require")) == 0 {
				return usagef("gate: --require is missing: a gate without a threshold cannot fail")
			}
			var thresholds []gate.Threshold
			for _, text := range c.StringSlice("require") {
				t, err := gate.ParseThreshold(text)
				if err != nil {
					return usageError{err}
				}
				thresholds = append(thresholds, t)
			}
			r, err := readReport(args[0])
			if err != nil {
				return err
			}
			result := gate.Run(r, thresholds)
			err = writeResult("gate", c.String("out"), s.out, func(w io.Writer) error { return write(w, result) })
			if err != nil {
				return err
			}
			if code := gateExit[result.Verdict]; code != exitOK {
				return outcomeError{code, "gate: " + verdictWords(result.Verdict)}
			}
			return nil
		},
	}
}

func verdictCounts(r gate.Result) string {
	var parts []string
	for _, v := range []gate.Verdict{gate.Pass, gate.Regression, gate.Inconclusive, gate.Invalid} {
		if n := r.Counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verdictWords(v)))
		}
	}
	return strings.Join(parts, ", ")
}

// evidence writes in one line what a check rests on.
func evidence(c gate.Check) string {
	parts := []string{}
	if c.ChangePct != nil {
		// The digits of the report, in ASCII.
		change := numfmt.Profile("database").Change().Format(c.ChangePct.Rat())
		parts = append(parts, "change "+strings.Replace(change, numfmt.Minus, "-", 1))
	}
	if i := c.Interval; i != nil {
		parts = append(parts, fmt.Sprintf("%s %+.2f%% to %+.2f%% at %.1f%%", gateWords[i.Method], i.LowPct, i.HighPct, i.Level*100))
	}
	if c.Cell != "" {
		parts = append(parts, fmt.Sprintf("n %d and %d", c.NA, c.NB))
	}
	if c.Reason != "" {
		parts = append(parts, gateWords[c.Reason])
	}
	if c.NeedN > 0 {
		parts = append(parts, fmt.Sprintf("needs %d rounds", c.NeedN))
	}
	return strings.Join(parts, ", ")
}

func place(c gate.Check) string {
	return strings.Trim(c.Suite+" "+c.Cell, " ")
}

func writeGateText(w io.Writer, r gate.Result) error {
	for _, c := range r.Checks {
		if _, err := fmt.Fprintf(w, "%s  %s\n", verdictWords(c.Verdict), visible(c.Threshold+"  "+place(c))); err != nil {
			return err
		}
		printWrapped(w, "    ", evidence(c))
	}
	_, err := fmt.Fprintf(w, "verdict  %s (%s)\n", verdictWords(r.Verdict), verdictCounts(r))
	return err
}

func writeGateMarkdown(w io.Writer, r gate.Result) error {
	fmt.Fprintf(w, "**%s**: %s\n\n| verdict | threshold | cell | evidence |\n|---|---|---|---|\n", verdictWords(r.Verdict), verdictCounts(r))
	cell := func(text string) string {
		return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(visible(text))
	}
	checks := slices.Clone(r.Checks)
	for _, c := range checks {
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s |\n", verdictWords(c.Verdict), cell(c.Threshold), cell(place(c)), cell(evidence(c))); err != nil {
			return err
		}
	}
	return nil
}

// The elements of a JUnit report, as CI systems read them.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitProblem `xml:"failure,omitempty"`
	Error   *junitProblem `xml:"error,omitempty"`
	Skipped *junitProblem `xml:"skipped,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
}

// writeGateJUnit makes a regression a failure, invalid evidence an error and an
// inconclusive check a skipped case, which is neither a pass nor a failure.
func writeGateJUnit(w io.Writer, r gate.Result) error {
	suite := junitSuite{
		Name: "pairbench gate " + visible(r.Study), Tests: len(r.Checks), Failures: r.Counts[gate.Regression],
		Errors: r.Counts[gate.Invalid], Skipped: r.Counts[gate.Inconclusive],
	}
	for _, c := range r.Checks {
		item := junitCase{Class: visible(place(c)), Name: visible(c.Threshold)}
		problem := &junitProblem{Message: visible(evidence(c))}
		switch c.Verdict {
		case gate.Regression:
			item.Failure = problem
		case gate.Invalid:
			item.Error = problem
		case gate.Inconclusive:
			item.Skipped = problem
		}
		suite.Cases = append(suite.Cases, item)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
