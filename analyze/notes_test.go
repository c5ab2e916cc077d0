package analyze

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pairbench/records"
)

func encodeAny(v any) string {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestDoubtsAreSaidWhereTheyAreDue(t *testing.T) {
	slow := func(s records.Samples) records.Samples { // twice as long from the middle on
		var out records.Samples
		at := int64(0)
		for i := range s.LatencyNs {
			latency := s.LatencyNs[i]
			if i > len(s.LatencyNs)/3 {
				latency *= 2
			}
			out.StartNs, out.LatencyNs = append(out.StartNs, at), append(out.LatencyNs, latency)
			at += latency
		}
		return out
	}
	for _, c := range []struct {
		name   string
		change func(in *input, p *records.Process)
		suite  string // prefix of a note that the suite gains
		cell   string
	}{
		{"a step inside the interval", func(in *input, p *records.Process) {
			s := slow(closedLoop(rand.New(rand.NewPCG(1, 1)), 2000, 1))
			in.withSamples(map[int32]records.Samples{1: s})
			p.ElapsedNs = ptr(s.StartNs[1999] + s.LatencyNs[1999])
		}, "level_change one/o1/callback/r1", ""},
		{"requests that were not in flight", func(in *input, p *records.Process) { p.ElapsedNs = ptr(*p.ElapsedNs * 3) }, "", "littles_law 0.33,1"},
		{"missed ticks", func(in *input, p *records.Process) { p.MissedTicks = ptr(int64(7)) }, "missed_ticks 7,1", "missed_ticks 7,1"},
		{"stolen time", func(in *input, p *records.Process) { p.StealNs, p.ProcessWallNs = ptr(int64(2e7)), ptr(int64(1e9)) }, "", "disturbed steal,one/o1/callback/r1"},
		{"throttling", func(in *input, p *records.Process) { p.ThrottledNs = ptr(int64(1)) }, "", "disturbed throttled,one/o1/callback/r1"},
		{"pressure", func(in *input, p *records.Process) {
			p.CPUPressureNs, p.ProcessWallNs = ptr(int64(2e8)), ptr(int64(1e9))
		}, "", "disturbed cpu_pressure,one/o1/callback/r1"},
		{"a client on two processors", func(in *input, p *records.Process) { p.ClientCPUs = ptr("0-1") }, "unpinned 1", ""},
		{"a failure", func(in *input, p *records.Process) { p.Outcome = records.OutcomeSignalled }, "failed_processes 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			calm := analyse(t, Options{}, onlyFirst(sampledInput("1", 3, 1)))
			in := onlyFirst(sampledInput("1", 3, 1))
			c.change(in, &in.processes[0])
			r := analyse(t, Options{}, in)
			check := func(where, prefix string, got, before []string) {
				has := func(notes []string) bool {
					return slices.ContainsFunc(notes, func(s string) bool { return strings.HasPrefix(s, prefix) })
				}
				if prefix != "" && (!has(got) || has(before)) {
					t.Errorf("%s notes are %q, want %q; before they were %q", where, got, prefix, before)
				}
			}
			check("suite", c.suite, codes(r.Suites[0].Notes), codes(calm.Suites[0].Notes))
			check("cell", c.cell, codes(r.Suites[0].Cells[0].Notes), codes(calm.Suites[0].Cells[0].Notes))
		})
	}
}

// onlyFirst leaves the samples of process 1 and makes the others say less.
func onlyFirst(in *input) *input {
	for i := range in.processes[1:] {
		in.processes[i+1].SampleCount = nil
	}
	all := in.readSamples
	in.readSamples = func(no int32, use func(sampleReader) error) (bool, error) {
		if no != 1 {
			return false, nil
		}
		return all(no, use)
	}
	return in
}

func TestBalanceAndDrift(t *testing.T) {
	in := databaseInput(t)
	in.run.Origin = "collected"
	for i := range in.processes {
		p := &in.processes[i]
		p.FirstInPair = (p.Round%2 == 1) == (p.Side == records.SideA)
		// Every process is 0.1 % slower than the one before it.
		p.ElapsedNs = ptr(int64(1e9 + 1e6*float64(p.Slot)))
	}
	notes := codes(analyse(t, Options{}, in).Suites[0].Notes)
	for _, want := range []string{"order_balance 56,84", "drift throughput -1.00"} {
		if !slices.ContainsFunc(notes, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("notes are %q, want %q", notes, want)
		}
	}
	imported := codes(analyse(t, Options{}, databaseInput(t)).Suites[0].Notes)
	if slices.ContainsFunc(imported, func(s string) bool { return strings.HasPrefix(s, "drift") || strings.HasPrefix(s, "order") }) {
		t.Errorf("an imported study has no order to speak of: %q", imported)
	}
	if got := codes(analyse(t, Options{}, databaseInput(t)).Notes); !slices.Equal(got, []string{"imported csv"}) {
		t.Errorf("notes are %q", got)
	}
}
