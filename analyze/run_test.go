package analyze

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pairbench/analyze/report"
	"pairbench/analyze/stat"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
	"pairbench/records/parquetfile"
)

// quick is the disk without waiting for it: tests survive no power cut.
type quick struct{ atomicfile.OS }

func (q quick) CreateTemp(dir, prefix string) (atomicfile.File, error) {
	f, err := q.OS.CreateTemp(dir, prefix)
	return quickFile{f}, err
}

func (quick) SyncDir(string) error { return nil }

type quickFile struct{ atomicfile.File }

func (quickFile) Sync() error { return nil }

// seal writes a bundle in memory to disk, with the samples that draw gives.
func seal(t *testing.T, in *input, draw func(*records.Process) *records.Samples) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bundle")
	w, err := bundle.Create(quick{}, dir, []byte("study: study\n"), in.run, in.cells)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.SetHost(in.host), w.SetInputs(in.inputs)); err != nil {
		t.Fatal(err)
	}
	for _, p := range in.processes {
		p.Argv = "[]"
		samples := draw(&p)
		if samples != nil {
			p.SampleCount = ptr(int64(samples.Len()))
		}
		if err := w.Append(p, samples); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Seal(in.run); err != nil {
		t.Fatal(err)
	}
	return dir
}

// exactly makes samples whose nearest-rank P50 and P99 are the stated ones of a
// process, and takes the statement away.
func exactly(random *rand.Rand, p *records.Process) *records.Samples {
	n := *p.MeasuredOperations
	s := &records.Samples{ProcessNo: p.ProcessNo, StartNs: make([]int64, n), LatencyNs: make([]int64, n)}
	k50, k99 := stat.P50.Rank(n), stat.P99.Rank(n)
	for i := range n {
		s.StartNs[i] = i * (*p.ElapsedNs / n)
		switch {
		case i < k50:
			s.LatencyNs[i] = *p.StatedLatencyP50Ns
		case i < k99:
			s.LatencyNs[i] = *p.StatedLatencyP99Ns
		default:
			s.LatencyNs[i] = *p.StatedLatencyP99Ns + 1
		}
	}
	random.Shuffle(int(n), func(i, j int) { s.LatencyNs[i], s.LatencyNs[j] = s.LatencyNs[j], s.LatencyNs[i] })
	p.StatedLatencyP50Ns, p.StatedLatencyP99Ns = nil, nil
	return s
}

// TestDatabaseStudyThroughParquet writes the 5,044,224 samples of the study to
// a bundle, analyses it, and finds every published figure again.
func TestDatabaseStudyThroughParquet(t *testing.T) {
	in := databaseInput(t)
	in.run.Origin, in.run.ImportFormat = "collected", nil
	random := rand.New(rand.NewPCG(1, 1))
	dir := seal(t, in, func(p *records.Process) *records.Samples { return exactly(random, p) })
	r, err := Run(context.Background(), Options{Bundles: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	checkDatabase(t, r)
	if r.Totals.Samples != 5_044_224 {
		t.Errorf("%d samples, want 5,044,224", r.Totals.Samples)
	}
}

func smallBundle(t *testing.T) string {
	in := sampledInput("1", 3, 1)
	return seal(t, in, func(p *records.Process) *records.Samples {
		var samples *records.Samples
		in.readSamples(p.ProcessNo, func(r sampleReader) error {
			s := records.Samples(r.(memorySamples))
			s.ProcessNo = p.ProcessNo
			samples = &s
			return nil
		})
		return samples
	})
}

func TestTwoRunsGiveTheSameBytes(t *testing.T) {
	dir := smallBundle(t)
	before := snapshot(t, dir)
	var outs [2]string
	for i := range outs {
		outs[i] = filepath.Join(t.TempDir(), "analysis")
		if _, err := Run(context.Background(), Options{Bundles: []string{dir}, Out: outs[i], Workers: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	first, second := snapshot(t, outs[0]), snapshot(t, outs[1])
	var names []string
	for name, content := range first {
		names = append(names, name)
		if second[name] != content {
			t.Errorf("%s differs between two runs", name)
		}
	}
	slices.Sort(names)
	if want := []string{ComparisonsFile, MetricsFile, ReportFile, SummariesFile}; !slices.Equal(names, want) {
		t.Errorf("an analysis holds %v, want %v", names, want)
	}
	for name, content := range snapshot(t, dir) {
		if before[name] != content {
			t.Errorf("analyze changed %s of the bundle", name)
		}
	}
	r, err := report.Decode(strings.NewReader(first[ReportFile]))
	if err != nil {
		t.Fatal(err)
	}
	table, err := parquetfile.ReadTable(strings.NewReader(first[ComparisonsFile]), int64(len(first[ComparisonsFile])))
	if err != nil {
		t.Fatal(err)
	}
	// The table has every metric, the report those that it shows.
	metrics, _ := table.Column("metric")
	exact, _ := table.Column("change_pct_exact")
	cells, _ := table.Column("cell_id")
	suites, _ := table.Column("suite")
	seen := 0
	for i := range table.Rows() {
		if !slices.ContainsFunc(r.Suites[0].Metrics, func(m report.Metric) bool { return m.ID == metrics.Strings[i] }) {
			continue
		}
		seen++
		if got := comparison(t, r, suites.Strings[i], cells.Strings[i], metrics.Strings[i]).ChangePct.Rat().RatString(); got != exact.Strings[i] {
			t.Errorf("%s %s: report says %s, table %s", cells.Strings[i], metrics.Strings[i], got, exact.Strings[i])
		}
	}
	if seen != 4*5 || table.Rows() <= seen {
		t.Errorf("%d of %d rows are in the report", seen, table.Rows())
	}
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRunRefuses(t *testing.T) {
	dir := smallBundle(t)
	taken := t.TempDir()
	damaged := smallBundle(t)
	matches, err := filepath.Glob(filepath.Join(damaged, "data", "samples", "*.parquet"))
	if err != nil || len(matches) == 0 {
		t.Fatal("checker is broken: no samples to damage")
	}
	sample := matches[0]
	content, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.Clone(content)
	content[len(content)/2] ^= 1
	if err := os.Chmod(sample, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sample, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "analysis")
	for _, c := range []struct {
		name string
		ctx  context.Context
		o    Options
		want string
		is   error
	}{
		{"nothing to analyse", context.Background(), Options{Out: out}, "no bundle given", nil},
		{"a place that is taken", context.Background(), Options{Bundles: []string{dir}, Out: taken}, "is already there", nil},
		{"no bundle", context.Background(), Options{Bundles: []string{t.TempDir()}, Out: out}, "", nil},
		{"a changed byte in the samples", context.Background(), Options{Bundles: []string{damaged}, Out: out}, "samples", bundle.ErrIntegrity},
		{"no floor", context.Background(), Options{Bundles: []string{dir}, Out: out, Floor: filepath.Join(out, "nowhere")}, "read floor", fs.ErrNotExist},
		{"an interrupt", cancelled, Options{Bundles: []string{dir}, Out: out}, "", context.Canceled},
		{"no directory to write in", context.Background(), Options{Bundles: []string{dir}, Out: filepath.Join(out, "deep", "analysis")}, "", fs.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Run(c.ctx, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) || (c.is != nil && !errors.Is(err, c.is)) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			left, _ := filepath.Glob(out + "*")
			if len(left) > 0 {
				t.Errorf("left %v behind", left)
			}
		})
	}
}

func TestHistory(t *testing.T) {
	dirs := []string{smallBundle(t), smallBundle(t)}
	rows, err := History(context.Background(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 4 * 5 * 2; len(rows) != want { // bundles, cells, metrics, arms
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	for _, row := range rows {
		if row.Summary.N != 3 || row.Bundle == "" || row.Metric.Unit == "" {
			t.Errorf("row %+v", row)
		}
	}
}

func TestDetectableChanges(t *testing.T) {
	r := analyse(t, Options{}, databaseInput(t))
	few, many := DetectableChanges(r, 3), DetectableChanges(r, 10)
	if len(few) != 2*5 || len(many) != len(few) {
		t.Fatalf("%d and %d answers, want 10", len(few), len(many))
	}
	for i := range few {
		if few[i].MedianPct <= many[i].MedianPct || few[i].WorstPct < few[i].MedianPct || few[i].Cells != 28 {
			t.Errorf("3 rounds: %+v, 10 rounds: %+v", few[i], many[i])
		}
	}
	if got := DetectableChanges(r, 1); len(got) != 0 {
		t.Errorf("one round answers %v", got)
	}
}
