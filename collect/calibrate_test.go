package collect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCalibrationIsAHostFact collects with a program in pbdriver's place: what
// its calibration says is recorded, and a failure of it is an absent fact.
func TestCalibrationIsAHostFact(t *testing.T) {
	const said = `{"clock_read_ns":30,"clock_tick_ns":1,"sample_record_ns":91.26,"sample_record_allocs":0,"empty_request_callback_ns":340,"empty_request_coroutine_ns":480.04}`
	for name, c := range map[string]struct {
		calibrate string
		want      map[string]string
	}{
		"a calibration": {"echo '" + said + "'; exit 0", map[string]string{
			"sample_record_ns": "91.3 ns", "sample_record_allocs": "0.0 count",
			"empty_request_callback_ns": "340.0 ns", "empty_request_coroutine_ns": "480.0 ns"}},
		"one that fails": {"exit 1", absent("pbdriver calibrate failed")},
		"no JSON":        {"echo soon; exit 0", absent("output of pbdriver calibrate: invalid character 's' looking for beginning of value")},
		"not all of it": {`echo '{"sample_record_ns":1}'; exit 0`, func() map[string]string {
			want := absent("pbdriver did not say")
			want["sample_record_ns"] = "1.0 ns"
			return want
		}()},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			program := "#!/bin/sh\nif [ \"$1\" = calibrate ]; then " + c.calibrate + "; fi\nexit 3\n"
			if err := os.WriteFile(filepath.Join(b.dir, "pbdriver"), []byte(program), 0o755); err != nil {
				t.Fatal(err)
			}
			opts := b.options(b.parse("program: {builtin: pbdriver}"))
			opts.BinDir = b.dir
			b.collect(opts)
			sealed, _ := b.open()
			host, err := sealed.Host()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range host {
				if f.Source != "pbdriver calibrate" {
					continue
				}
				name := strings.TrimPrefix(f.Name, "calibration.")
				if f.Value != nil {
					got[name] = *f.Value + " " + *f.Unit
				} else {
					got[name] = *f.AbsentReason
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("host facts (-want +got):\n%s", diff)
			}
		})
	}
}

// absent is every fact with the reason for its absence.
func absent(reason string) map[string]string {
	facts := map[string]string{
		"sample_record_ns": "", "sample_record_allocs": "", "empty_request_callback_ns": "", "empty_request_coroutine_ns": "",
	}
	for name := range facts {
		facts[name] = reason
	}
	return facts
}
