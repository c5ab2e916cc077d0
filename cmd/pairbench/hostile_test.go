package main

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bag"
	"pairbench/records/bundle"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// hostileNames are factor values that are paths, devices, markup, or alike.
var hostileNames = []string{
	"a/b", "../x", "a_b", "CON", "con", "", " ", ".", "..", "/etc/passwd", "~", "-rf", "a\\b", "a:b", "名前", "名\u3000前", "é", "e\u0301",
	strings.Repeat("n", 199) + "1", strings.Repeat("n", 199) + "2", "<script>", "|", "=1+1", "%2e%2e", "$(id)", "`id`", "\u202eabc", "nul\u0007",
}

// TestHostileNamesAreCellsOfTheirOwnAndWriteNothingOutside takes names through
// all commands.
func TestHostileNamesAreCellsOfTheirOwnAndWriteNothingOutside(t *testing.T) {
	around := t.TempDir()
	dir := filepath.Join(around, "deep", "work")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	values, err := json.Marshal(hostileNames)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	planFile, out := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "bundle")
	writeFile(t, planFile, fmt.Sprintf(`plan: 1
study: names
arms: [{name: a, label: {en: "../a/b <script>|"}}, {name: b, label: {en: CON}}]
rounds: 1
suites:
  - id: s
    title: {en: "../../title"}
    workload: command
    program: {command: [%q]}
    factors:
      behave: [honest]
      name: %s
    measure: {operations: 10}
`, self, values))
	analysis := filepath.Join(dir, "analysis")
	command(t, exitOK, "collect", "--out", out, planFile)
	command(t, exitOK, "verify", out)
	command(t, exitOK, "analyze", "--out", analysis, out)
	command(t, exitOK, "render", "--out", filepath.Join(dir, "report"), analysis)
	command(t, exitOK, "notebook", "--out", filepath.Join(dir, "names.ipynb"), analysis)
	command(t, exitOK, "export", "--format", "csv", "--out", filepath.Join(dir, "names.csv"), out)
	command(t, exitOK, "compact", out)
	command(t, exitOK, "verify", out+".compact")

	cells := map[string]bool{}
	for _, p := range processesOf(t, out) {
		cells[p.CellID] = true
		if p.Outcome != records.OutcomeOK {
			t.Errorf("%s: %s", p.ProcessID, p.Outcome)
		}
	}
	if len(cells) != len(hostileNames) {
		t.Errorf("%d cells of %d names", len(cells), len(hostileNames))
	}
	r, err := readReport(analysis)
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range r.Suites[0].Cells {
		if got := cell.Factors[1].Value; got != hostileNames[i] {
			t.Errorf("cell %d is named %q, expected %q", i, got, hostileNames[i])
		}
	}
	rows, err := csv.NewReader(strings.NewReader(readFile(t, filepath.Join(dir, "names.csv")))).ReadAll()
	if err != nil || len(rows) != 1+2*len(hostileNames) {
		t.Errorf("the CSV has %d rows: %v", len(rows), err)
	}
	want := []string{"analysis", "bundle", "bundle.compact", "names.csv", "names.ipynb", "plan.yaml", "report"}
	for at, names := range map[string][]string{around: {"deep"}, filepath.Dir(dir): {"work"}, dir: want} {
		entries, err := os.ReadDir(at)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, entry := range entries {
			got = append(got, entry.Name())
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s holds %q, expected %q", at, got, names)
		}
	}
}

// smallBundle collects a bundle of four processes, two of them with samples.
func smallBundle(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	planFile, out := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "bundle")
	writeFile(t, planFile, fmt.Sprintf(`plan: 1
study: small
arms: [{name: a}, {name: b}]
rounds: 2
suites:
  - id: s
    workload: command
    program: {command: [%q]}
    factors: {behave: [honest]}
    measure: {operations: 100}
`, self))
	command(t, exitOK, "collect", "--out", out, planFile)
	return out
}

// TestStrangersFilesAreHeldInPlaceAndMemory gives bundles and analyses of
// strangers to the commands: whatever they hold, the answer is one line, with the
// right exit code, in bounded time and memory, and nothing outside is touched.
func TestStrangersFilesAreHeldInPlaceAndMemory(t *testing.T) {
	original := smallBundle(t)
	analysis := filepath.Join(t.TempDir(), "analysis")
	command(t, exitOK, "analyze", "--out", analysis, original)
	secret := filepath.Join(t.TempDir(), "secret")
	writeFile(t, secret, "SECRET-OF-THE-HOST")
	sum := digest.Sum([]byte("SECRET-OF-THE-HOST")).String()
	manifest := func(path string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			file := filepath.Join(dir, bag.ManifestFile)
			writeFile(t, file, readFile(t, file)+sum+"  "+path+"\n")
			sealTags(t, dir)
		}
	}
	link := func(name, target string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		}
	}
	table := func(name string, content []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), string(content))
			reseal(t, dir)
		}
	}
	type stranger struct {
		what string
		do   func(t *testing.T, dir string)
	}
	strangers := []stranger{
		{"manifest with ..", manifest("data/../../secret")},
		{"manifest with an absolute path", manifest(secret)},
		{"manifest with a line without end", func(t *testing.T, dir string) {
			sparse(t, filepath.Join(dir, bag.ManifestFile), 256<<20)
		}},
		{"link in place of run.json", link(bundle.RunFile, secret)},
		{"link in place of a table", link(bundle.ProcessesFile, secret)},
		{"link in place of the samples", link("data/samples", filepath.Dir(secret))},
		{"link in place of data", link("data", filepath.Dir(secret))},
		{"link in place of a samples file", link("data/samples/1.parquet", "/dev/zero")},
		{"pipe in place of run.json", func(t *testing.T, dir string) {
			path := filepath.Join(dir, bundle.RunFile)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"run.json of 128 MB", func(t *testing.T, dir string) {
			sparse(t, filepath.Join(dir, bundle.RunFile), 128<<20)
			reseal(t, dir)
		}},
		{"run.json of many objects", table(bundle.RunFile, append(append([]byte(`{"suites":[{}`), bytes.Repeat([]byte(",{}"), 5<<20)...), "]}"...))},
		{"run.json of nested lists", table(bundle.RunFile, bytes.Repeat([]byte("["), 8<<20))},
		{"datapackage.json of nested lists", table("data/datapackage.json", bytes.Repeat([]byte("["), 8<<20))},
		{"run.json that claims processes", func(t *testing.T, dir string) {
			editRun(t, dir, func(run map[string]any) { run["processes"], run["samples"] = math.MaxInt32, int64(1)<<60 })
			reseal(t, dir)
		}},
		{"table of compressed text", table(bundle.InputsFile, inputsBomb(t))},
	}
	huge := binary.AppendUvarint(nil, math.MaxInt32)
	for what, footer := range map[string][]byte{
		"schema of 2^31 elements": append([]byte{0x15, 4, 0x19, 0xfc}, huge...),
		"row groups of 2^31":      append([]byte{0x15, 4, 0x19, 0x0c, 0x16, 0, 0x19, 0xfc}, huge...),
		"text of 2^31 bytes":      append([]byte{0x15, 4, 0x58}, huge...),
		"nesting without end":     bytes.Repeat([]byte{0x1c}, 100_000),
	} {
		content := append([]byte("PAR1"), footer...)
		content = binary.LittleEndian.AppendUint32(content, uint32(len(footer)))
		content = append(content, "PAR1"...)
		for _, name := range []string{bundle.ProcessesFile, bundle.CellsFile, "data/samples/1.parquet"} {
			strangers = append(strangers, stranger{what + " in " + name, table(name, content)})
		}
	}
	for _, s := range strangers {
		t.Run(s.what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "bundle")
			if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
				t.Fatal(err)
			}
			s.do(t, dir)
			out := filepath.Join(t.TempDir(), "analysis")
			bounded(t, exitIntegrity, "verify", dir)
			// A wrong count in run.json harms no number: verify alone counts.
			if s.what != "run.json that claims processes" && s.what != "datapackage.json of nested lists" {
				bounded(t, exitIntegrity, "analyze", "--out", out, dir)
				if _, err := os.Lstat(out); err == nil {
					t.Error("analyze left something")
				}
			}
		})
	}
	for _, s := range []stranger{
		{"link in place of report.json", link("report.json", secret)},
		{"link to a device", link("report.json", "/dev/zero")},
		{"pipe in place of report.json", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "report.json")); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(filepath.Join(dir, "report.json"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"report.json of 3 GB", func(t *testing.T, dir string) { sparse(t, filepath.Join(dir, "report.json"), 3<<30) }},
		{"report.json of many objects", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "report.json"), `{"failures":[{}`+strings.Repeat(",{}", 20<<20)+"]}")
		}},
		{"report.json of nested lists", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "report.json"), strings.Repeat("[", 32<<20))
		}},
	} {
		t.Run(s.what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "analysis")
			if err := os.CopyFS(dir, os.DirFS(analysis)); err != nil {
				t.Fatal(err)
			}
			s.do(t, dir)
			out := filepath.Join(t.TempDir(), "report")
			bounded(t, exitFailure, "render", "--out", out, dir)
			if _, err := os.Lstat(out); err == nil {
				t.Error("render left something")
			}
		})
	}
}

// Bounds on what a command may take for files that are refused.
const (
	boundTime = 20 * time.Second
	boundRSS  = 512 << 20
)

// bounded runs a command on hostile files and holds it to its bounds and to one
// line of error that tells nothing of the host's.
func bounded(t *testing.T, want int, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("pairbench", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(boundTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if code := exitOf(t, cmd.Wait()); code != want {
		t.Errorf("%s: exit code %d, expected %d: %.300s", args[0], code, want, stderr.String())
	}
	text := stderr.String()
	if strings.Count(text, "\n") != 1 || len(text) > 2000 {
		t.Errorf("%s: expected one clear line, got %d bytes: %.500s", args[0], len(text), text)
	}
	if strings.Contains(text+stdout.String(), "SECRET") {
		t.Errorf("%s tells what a file outside holds:\n%s%s", args[0], stdout.String(), text)
	}
	if rss := peakRSS(cmd.ProcessState); rss > boundRSS {
		t.Errorf("%s took %d MiB", args[0], rss>>20)
	}
}

// peakRSS is the child's own: the system counts in KiB except on macOS.
func peakRSS(state *os.ProcessState) int64 {
	rss := int64(state.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS != "darwin" {
		rss <<= 10
	}
	return rss
}

func inputsBomb(t *testing.T) []byte {
	t.Helper()
	rows := make([]records.Input, 5000)
	long := strings.Repeat("x", 1<<20)
	for i := range rows {
		rows[i] = records.Input{Kind: "a", Name: "b", ResolvedBy: long}
	}
	var content bytes.Buffer
	if err := parquetfile.WriteInputs(&content, rows); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// sparse makes a file of zeros that takes no room.
func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	writeFile(t, path, "")
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func editRun(t *testing.T, dir string, edit func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(bundle.RunFile))
	var run map[string]any
	if err := json.Unmarshal([]byte(readFile(t, path)), &run); err != nil {
		t.Fatal(err)
	}
	edit(run)
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(text))
}

// reseal makes the manifests agree with the files, as a careful forger would.
func reseal(t *testing.T, dir string) {
	t.Helper()
	var payload bag.Payload
	for _, path := range filesBelow(t, filepath.Join(dir, "data")) {
		sum, size, err := digest.File(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		payload.Entries = append(payload.Entries, bag.Entry{Path: filepath.ToSlash(name), SHA256: sum})
		payload.Bytes += size
	}
	if _, err := bag.Write(atomicfile.OS{}, dir, payload, nil); err != nil {
		t.Fatal(err)
	}
}

// sealTags makes the tag manifest agree with the tag files as they are.
func sealTags(t *testing.T, dir string) {
	t.Helper()
	var text strings.Builder
	for _, name := range []string{"bag-info.txt", "bagit.txt", bag.ManifestFile} {
		sum, _, err := digest.File(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	writeFile(t, filepath.Join(dir, "tagmanifest-sha256.txt"), text.String())
}
