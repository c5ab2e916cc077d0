package analyze

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
)

// The report with inference and a floor, whole; package render lays the same
// file out. UPDATE_GOLDEN=1 writes it anew.
func TestGoldenInferenceAndFloor(t *testing.T) {
	aa := sampledInput("1", 6, 1)
	aa.run.AA = true
	floor := t.TempDir()
	if err := os.WriteFile(filepath.Join(floor, ReportFile), []byte(encoded(t, analyse(t, Options{}, aa))), 0o600); err != nil {
		t.Fatal(err)
	}
	in := sampledInput("2", 6, 2)
	// Side B of suite two takes a tenth longer, beyond what equal sides differ by.
	for i := range in.processes {
		if p := &in.processes[i]; p.Suite == "two" && p.Side == "B" {
			p.ElapsedNs = ptr(*p.ElapsedNs + *p.ElapsedNs/10)
			p.CPUWallNs = p.ElapsedNs
		}
	}
	got := encoded(t, analyse(t, Options{Inference: true, Floor: floor, ToolVersion: "test"}, in))
	path := filepath.Join("testdata", "inference_floor.json")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Which label of an A/A collection is higher is chance, so a floor holds no
// change at all, reaches as far down as up, and exchanging labels leaves it.
func TestTheFloorDoesNotDependOnTheLabels(t *testing.T) {
	aa, swapped := sampledInput("1", 3, 1), sampledInput("1", 3, 1)
	aa.run.AA, swapped.run.AA = true, true
	for i := range swapped.processes {
		p := &swapped.processes[i]
		if p.Side == "A" {
			p.Side = "B"
		} else {
			p.Side = "A"
		}
		p.Arm = swapped.run.Arms[slices.Index(records.Sides[:], p.Side)].Name
	}
	var floors [2][]float64
	for i, in := range []*input{aa, swapped} {
		r := analyse(t, Options{}, sampledInput("2", 3, 2))
		applyFloor(r, analyse(t, Options{}, in))
		for _, s := range r.Suites {
			for _, c := range s.Cells {
				for _, m := range c.Comparisons {
					if m.Floor.LowPct > 0 || m.Floor.HighPct < 0 {
						t.Errorf("%s %s: no change at all lies outside %+v", c.ID, m.Metric, m.Floor)
					}
					if product := (1 + m.Floor.LowPct/100) * (1 + m.Floor.HighPct/100); product < 1-1e-12 || product > 1+1e-12 {
						t.Errorf("%s %s: %+v is not the same both ways round", c.ID, m.Metric, m.Floor)
					}
					floors[i] = append(floors[i], m.Floor.LowPct, m.Floor.HighPct)
				}
			}
		}
	}
	if diff := cmp.Diff(floors[0], floors[1]); diff != "" {
		t.Errorf("exchanging the labels moved the floor:\n%s", diff)
	}
}
