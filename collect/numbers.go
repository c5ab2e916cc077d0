package collect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"

	"pairbench/collect/plan"
	"pairbench/collect/proc"
	"pairbench/records"
)

// maxRead bounds how much of an output is searched for numbers.
const maxRead = 16 << 20

// readNumbers settles the row of a program that does not speak the protocol. A
// number that the plan does not say how to read stays absent, with two
// exceptions that the plan states by itself: a run of the program is the
// measured interval, and does the operations that measure counts.
func (a *attempt) readNumbers(exit proc.Exit) {
	row, fields := a.row, a.prog.read.Fields
	values, err := readFields(a.outputPath(), fields)
	take := func(name string) *int64 { return counted(values[name]) }
	row.MeasuredOperations, row.WarmupOperations = take("measured_operations"), take("warmup_operations")
	row.Errors, row.Incomplete, row.WarmupErrors = take("errors"), take("incomplete"), take("warmup_errors")
	row.ElapsedNs = take("elapsed_ns")
	row.StatedLatencyP50Ns, row.StatedLatencyP99Ns = take("p50_ns"), take("p99_ns")
	if peak := take("peak_rss_bytes"); peak != nil {
		row.PeakRSSBytes, row.RSSFloorBytes, row.PeakRSSSource = peak, nil, ptr("stated")
	}
	if _, stated := fields["elapsed_ns"]; !stated {
		row.ElapsedNs = ptr(exit.WallNs)
	}
	if _, stated := fields["measured_operations"]; !stated && a.cell.Measure.Operations > 0 {
		row.MeasuredOperations = ptr(a.cell.Measure.Operations)
	}
	if interval := take("cpu_interval_ns"); interval != nil && row.ElapsedNs != nil && a.suite.CPUScope == records.CPUScopeInterval {
		a.fillCPU(interval, row.ElapsedNs)
	} else {
		scope := records.CPUScopeProcess
		row.CPUNs, row.CPUWallNs, row.CPUScope = row.ProcessCPUNs, row.ProcessWallNs, &scope
	}
	a.judgePlain(exit, values, err)
}

func (a *attempt) outputPath() string {
	if a.prog.read.From == "stderr" {
		return a.spec.StderrPath
	}
	return a.spec.StdoutPath
}

func (a *attempt) judgePlain(exit proc.Exit, values map[string]*int64, readErr error) {
	planned := a.cell.Measure.Operations
	switch {
	case exit.Cause == proc.CauseTimeLimit:
		a.fail(records.OutcomeTimeout, fmt.Sprintf("still running after %v", a.spec.TimeLimit))
	case exit.Cause != "":
		a.fail(records.OutcomeProtocolError, "wrote more than the limit: "+strings.ReplaceAll(string(exit.Cause), "_", " "))
	case exit.Signal != nil:
		a.fail(records.OutcomeSignalled, fmt.Sprintf("signal %d ended it", *exit.Signal))
	case exit.ExitCode == nil:
		a.fail(records.OutcomeInvalidResult, "the system lost its exit status")
	case *exit.ExitCode != 0:
		a.fail(records.OutcomeExitNonzero, fmt.Sprintf("exit code %d", *exit.ExitCode))
	case readErr != nil:
		a.fail(records.OutcomeInvalidResult, readErr.Error())
	case positive(values["errors"]) || positive(values["incomplete"]) || positive(values["warmup_errors"]):
		a.fail(records.OutcomeOperationErrors, fmt.Sprintf("%s errors, %s incomplete, %s warm-up errors",
			number(values["errors"]), number(values["incomplete"]), number(values["warmup_errors"])))
	case planned > 0 && values["measured_operations"] != nil && *values["measured_operations"] != planned:
		a.fail(records.OutcomeInvalidResult, fmt.Sprintf("%d measured operations, the plan says %d", *values["measured_operations"], planned))
	default:
		a.finish(exit)
	}
}

func positive(v *int64) bool { return v != nil && *v > 0 }

func number(v *int64) string {
	if v == nil {
		return "no"
	}
	return strconv.FormatInt(*v, 10)
}

// readFields finds each field's number in an output file. A field that is not
// there stays absent; one that is there and is no number, or a negative one, is
// an error.
func readFields(path string, fields map[string]plan.ReadField) (map[string]*int64, error) {
	values := make(map[string]*int64)
	if len(fields) == 0 {
		return values, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return values, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxRead))
	if err != nil {
		return values, err
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	jsonErr := decoder.Decode(&document)
	for name, f := range fields {
		var found string
		var ok bool
		if f.Regexp != "" {
			found, ok = findRegexp(text, f.Regexp)
		} else {
			if jsonErr != nil {
				return values, fmt.Errorf("the output is no JSON document, which %s is read from: %w", name, jsonErr)
			}
			found, ok = findJSON(document, f.JSONPath)
		}
		if !ok {
			continue
		}
		v, err := scaled(found, f.Scale)
		if err != nil {
			return values, fmt.Errorf("%s is %.60q in the output: %w", name, found, err)
		}
		values[name] = &v
	}
	return values, nil
}

func findRegexp(text []byte, pattern string) (string, bool) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	m := re.FindSubmatch(text)
	if m == nil || m[1] == nil {
		return "", false
	}
	return string(m[1]), true
}

// findJSON follows dotted keys and indices: results.0.mean or results[0].mean.
func findJSON(document any, path string) (string, bool) {
	path = strings.NewReplacer("[", ".", "]", "").Replace(path)
	for _, key := range strings.Split(strings.TrimPrefix(path, "."), ".") {
		switch v := document.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return "", false
			}
			document = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return "", false
			}
			document = v[i]
		default:
			return "", false
		}
	}
	switch v := document.(type) {
	case json.Number:
		return v.String(), true
	case string:
		return v, true
	default:
		return "", false
	}
}

// scaled multiplies the number in text exactly and rounds half away from zero.
func scaled(text string, scale float64) (int64, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", "")
	// A decimal exponent of a million digits would be a number of a megabyte.
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(exponent) > 4 {
		return 0, fmt.Errorf("the exponent is too large")
	}
	v, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xXpPoObB") {
		return 0, fmt.Errorf("not a decimal number")
	}
	if scale != 0 {
		factor, ok := new(big.Rat).SetString(strconv.FormatFloat(scale, 'g', -1, 64))
		if !ok {
			return 0, fmt.Errorf("the scale is not a number")
		}
		v.Mul(v, factor)
	}
	if v.Sign() < 0 {
		return 0, fmt.Errorf("negative")
	}
	num := new(big.Int).Mul(v.Num(), big.NewInt(2))
	num.Add(num, v.Denom())
	rounded := num.Quo(num, new(big.Int).Mul(v.Denom(), big.NewInt(2)))
	if !rounded.IsInt64() {
		return 0, fmt.Errorf("too large")
	}
	return rounded.Int64(), nil
}
