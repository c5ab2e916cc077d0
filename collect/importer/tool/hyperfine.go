package tool

import (
	"fmt"

	"pairbench/collect/importer/jsondoc"
	"pairbench/collect/importer/result"
	"pairbench/records"
)

// Hyperfine reads `hyperfine --export-json`: a run of a command is a repetition
// of one operation. user and system are means over the runs, so that CPU time
// is known only where a command ran once.
func Hyperfine(src result.Source, suite string) (result.Table, error) {
	f, err := openJSON(src)
	if err != nil {
		return result.Table{}, err
	}
	results, err := f.need(f.root, "results", jsondoc.Array)
	if err != nil {
		return result.Table{}, err
	}
	t := result.Table{NamedByTarget: true, Metrics: []string{"run_time", "throughput", "cpu", "peak_rss"}}
	for entry := range results.Items() {
		if err := f.hyperfineResult(&t, entry, suite); err != nil {
			return result.Table{}, err
		}
	}
	if len(t.Observations) == 0 {
		return result.Table{}, f.fail(results, "results: found no runs, expected one or more")
	}
	return t, nil
}

// maxParameters bounds the parameters of a command.
const maxParameters = 100

func (f *jsonFile) hyperfineResult(t *result.Table, entry jsondoc.Value, suite string) error {
	command, err := f.need(entry, "command", jsondoc.String)
	if err != nil {
		return err
	}
	list, err := f.need(entry, "times", jsondoc.Array)
	if err != nil {
		return err
	}
	factors := []records.Factor{result.Word("command", command.Text())}
	for name, value := range entry.Get("parameters").Members() {
		if len(factors) > maxParameters {
			return f.fail(name, "parameters: found more than %d, expected fewer", maxParameters)
		}
		factors = append(factors, result.Word(name.Text(), value.Text()))
	}
	var codes, memory []jsondoc.Value
	for _, of := range []struct {
		member string
		into   *[]jsondoc.Value
	}{{"exit_codes", &codes}, {"memory_usage_byte", &memory}} {
		for v := range entry.Get(of.member).Items() {
			if len(*of.into) == result.MaxObservations {
				break
			}
			*of.into = append(*of.into, v)
		}
	}
	first := len(t.Observations)
	for time := range list.Items() {
		i := len(t.Observations) - first
		o := result.New(f.line(time), suite, factors...)
		one := int64(1)
		o.Process.MeasuredOperations = &one
		elapsed, err := f.units("times", time, 1e9)
		if err != nil {
			return err
		}
		o.Process.ElapsedNs = elapsed
		if elapsed != nil {
			// The one operation of the run took as long as the run.
			o.Samples = &records.Samples{StartNs: []int64{0}, LatencyNs: []int64{*elapsed}}
		}
		if i < len(codes) {
			if err := f.hyperfineExit(&o.Process, codes[i]); err != nil {
				return err
			}
		}
		if i < len(memory) {
			if o.Process.PeakRSSBytes, err = f.count("memory_usage_byte", memory[i]); err != nil {
				return err
			}
		}
		if err := t.Add(f.src.Name, o); err != nil {
			return err
		}
	}
	if len(t.Observations)-first != 1 {
		return nil
	}
	return f.hyperfineCPU(&t.Observations[first].Process, entry)
}

func (f *jsonFile) hyperfineExit(p *records.Process, code jsondoc.Value) error {
	if code.Kind() == jsondoc.Null {
		result.Failed(p, records.OutcomeSignalled, "hyperfine states no exit code: a signal ended the command")
		return nil
	}
	n, err := f.units("exit_codes", code, 1)
	if err != nil {
		return err
	}
	if n == nil || *n > 1<<31-1 {
		return f.fail(code, "exit_codes: found %s, expected an exit code", result.Quote(code.Literal()))
	}
	exit := int32(*n)
	p.ExitCode = &exit
	if exit != 0 {
		result.Failed(p, records.OutcomeExitNonzero, fmt.Sprintf("exit code %d", exit))
	}
	return nil
}

func (f *jsonFile) hyperfineCPU(p *records.Process, entry jsondoc.Value) error {
	user, err := f.units("user", entry.Get("user"), 1e9)
	if err != nil {
		return err
	}
	system, err := f.units("system", entry.Get("system"), 1e9)
	if err != nil {
		return err
	}
	p.CPUUserNs, p.CPUSystemNs = user, system
	if user != nil && system != nil && p.ElapsedNs != nil {
		cpu, scope := *user+*system, records.CPUScopeProcess
		p.CPUNs, p.CPUWallNs, p.CPUScope = &cpu, p.ElapsedNs, &scope
	}
	return nil
}
