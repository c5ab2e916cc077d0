package hostinfo

import (
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
)

// listen occupies a loopback port for the test.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func number(v int64) *int64 { return &v }

func TestBetweenKeepsWhatGrew(t *testing.T) {
	before := Snapshot{StealNs: number(10), CPUPressureNs: number(5), ThrottledNs: number(7), Load1Milli: number(100), CPUFrequencyKHz: number(1)}
	after := Snapshot{StealNs: number(30), CPUPressureNs: number(5), ThrottledNs: number(6), Load1Milli: number(900), CPUFrequencyKHz: number(2)}
	want := Disturbance{StealNs: number(20), CPUPressureNs: number(0), Load1Milli: number(100), CPUFrequencyKHz: number(2)}
	if diff := cmp.Diff(want, Between(before, after)); diff != "" {
		t.Errorf("disturbance (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Disturbance{}, Between(Snapshot{}, Snapshot{StealNs: number(1)})); diff != "" {
		t.Errorf("a counter that was absent before counts:\n%s", diff)
	}
}

func TestRecordKeepsWhatTheRowHasAlready(t *testing.T) {
	p := records.Process{MajorFaults: number(3), StealNs: number(9)}
	d := Disturbance{StealNs: number(1), Switches: Switches{Voluntary: number(4)}}
	d.Record(&p)
	want := records.Process{MajorFaults: number(3), StealNs: number(1), VoluntarySwitches: number(4)}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func TestThousandths(t *testing.T) {
	for text, want := range map[string]int64{"0.42": 420, "3": 3000, "12.3456": 12345, "0.05": 50} {
		if got, ok := milli(text); !ok || got != want {
			t.Errorf("%s is %d thousandths (%v), want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", "-1.5", "1.x"} {
		if got, ok := milli(text); ok && text != "" {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}
