package layout

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pairbench/analyze/report"
	"pairbench/records"
	"pairbench/render/chart"
	"pairbench/render/i18n"
)

// pastBundles are rows of seven weeks: arm B improves in the third, the host is
// another one from the fifth on, where A was not measured.
func pastBundles(t *testing.T) []report.HistoryRow {
	t.Helper()
	number := func(v int64) *report.Number {
		n := report.NumberFromInt(v)
		return &n
	}
	var rows []report.HistoryRow
	for week := range 7 {
		for c, cell := range []string{"64B", "4096B"} {
			for i, name := range []string{"baseline", "candidate"} {
				if week == 4 && i == 0 {
					continue
				}
				median := int64(90_000 - 30_000*c + 700*(week%3) + 900*i*min(week, 3))
				revision := "5f0c9d3ab1e2"
				if i == 1 {
					revision = strconv.FormatInt(0x7a10c4d2e9b+int64(week)*0x1357bdf531, 16)
				}
				if week >= 4 {
					median += 25_000
				}
				row := report.HistoryRow{
					Bundle: "bundle" + strconv.Itoa(week), Name: "week-" + strconv.Itoa(week), Study: "echo", Suite: "redis_tcp", Cell: cell,
					StartedAt: time.Date(2026, 3, 4+7*week, 5, 6, 7, 0, time.UTC), Metric: report.Metric{ID: "throughput", Unit: "per_sec", Better: "higher"},
					Side: records.Sides[i], Arm: name, Revision: &revision,
					Summary: report.ArmSummary{N: 3, Median: number(median), Min: number(median - 1500), Max: number(median + 900)},
				}
				if week == 4 {
					row.NotComparable = []string{"host"}
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func TestHistoryChartPartsWhatDoesNotCompare(t *testing.T) {
	rows := pastBundles(t)
	for _, lang := range i18n.Languages() {
		w, _ := i18n.For(lang)
		f := History(rows, w)
		if len(f.Panels) != 2 || len(f.Panels[0].Groups) != 7 {
			t.Fatalf("%d panels, expected one for each cell with a group for each bundle", len(f.Panels))
		}
		for _, p := range f.Panels {
			for week, g := range p.Groups {
				if g.Break != (week == 4) || (g.Note != "") != g.Break || (g.Bars[0] == nil) != (week == 4) || g.Bars[1] == nil {
					t.Errorf("%s, week %d: %+v", p.Title, week, g)
				}
			}
		}
		path := filepath.Join("testdata", "history."+lang+".svg")
		got := chart.NewPainter().SVG(f)
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if History(nil, nil) != nil {
		t.Error("no rows draw something")
	}
}
