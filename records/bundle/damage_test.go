package bundle

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pairbench/records"
	"pairbench/records/bag"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// sealedStudy returns the directory of a sealed bundle of four processes.
func sealedStudy(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	collectStudy(t, quickFS{}, dir, 2)
	return dir
}

func filesOf(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// mustFind fails unless Verify names path, or the file that vouches for it,
// with one of the kinds.
func mustFind(t *testing.T, dir, what, path string, kinds ...bag.Kind) {
	t.Helper()
	report, err := Verify(dir)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, f := range report.Findings {
		for _, kind := range kinds {
			if f.Path == path && f.Kind == kind && f.Detail != "" {
				return
			}
		}
	}
	t.Errorf("%s: checker is broken: %v in %s is not among %v", what, kinds, path, report.Findings)
}

// TestEveryBitFlipIsFound flips a bit of every byte of small files and of a
// sample of the bytes of larger ones.
func TestEveryBitFlipIsFound(t *testing.T) {
	dir := sealedStudy(t)
	trials := 0
	for _, name := range filesOf(t, dir) {
		path := filepath.Join(dir, name)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(content)/120)
		for at := 0; at < len(content); at += step {
			damaged := bytes.Clone(content)
			damaged[at] ^= 1 << (at % 8)
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			trials++
			what := fmt.Sprintf("bit %d of byte %d of %s", at%8, at, name)
			report, err := Verify(dir)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			named := false
			for _, f := range report.Findings {
				// A changed tag manifest shows as itself or as the hash it holds.
				named = named || f.Path == name || name == bag.TagManifestFile
			}
			if !named {
				t.Errorf("%s: checker is broken: findings %v", what, report.Findings)
			}
			if at%(7*step) != 0 || strings.HasPrefix(name, samplesDir) {
				continue
			}
			if _, err := Open(dir); !errors.Is(err, ErrIntegrity) {
				t.Errorf("%s: Open: %v, want ErrIntegrity", what, err)
			}
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	verifyClean(t, dir)
	t.Logf("%d bit flips, all found", trials)
}

func TestChangedSamplesAreRefusedBeforeDecoding(t *testing.T) {
	dir := sealedStudy(t)
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := flipByte(filepath.Join(dir, sampleFile(2)), 100); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Samples(2); !errors.Is(err, ErrIntegrity) || !strings.Contains(err.Error(), sampleFile(2)) {
		t.Errorf("samples of process 2: %v, want ErrIntegrity that names the file", err)
	}
	if _, ok, err := b.Samples(1); !ok || err != nil {
		t.Errorf("samples of process 1: ok %v, %v", ok, err)
	}
}

// TestDamageTable damages a fresh copy of a bundle in every way but a bit flip.
func TestDamageTable(t *testing.T) {
	original := sealedStudy(t)
	type damage struct {
		what  string
		do    func(dir string) error
		path  string
		kinds []bag.Kind
	}
	var table []damage
	for _, name := range filesOf(t, original) {
		table = append(table,
			damage{"delete " + name, func(dir string) error { return os.Remove(filepath.Join(dir, name)) }, name, []bag.Kind{bag.KindMissing}},
			damage{"empty " + name, func(dir string) error { return os.Truncate(filepath.Join(dir, name), 0) }, name, []bag.Kind{bag.KindChanged, bag.KindMalformed}},
			damage{"cut " + name, func(dir string) error {
				info, err := os.Stat(filepath.Join(dir, name))
				if err != nil {
					return err
				}
				return os.Truncate(filepath.Join(dir, name), info.Size()-1)
			}, name, []bag.Kind{bag.KindChanged, bag.KindMalformed}},
			damage{"grow " + name, func(dir string) error {
				f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					return err
				}
				_, err = f.WriteString("\n")
				return errors.Join(err, f.Close())
			}, name, []bag.Kind{bag.KindChanged, bag.KindMalformed}},
			damage{"replace by link " + name, func(dir string) error {
				path := filepath.Join(dir, name)
				return errors.Join(os.Remove(path), os.Symlink(filepath.Join(original, name), path))
			}, name, []bag.Kind{bag.KindNotRegular}},
			damage{"replace by pipe " + name, func(dir string) error {
				path := filepath.Join(dir, name)
				return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o644))
			}, name, []bag.Kind{bag.KindNotRegular}},
			damage{"replace by directory " + name, func(dir string) error {
				path := filepath.Join(dir, name)
				return errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
			}, name, []bag.Kind{bag.KindMissing, bag.KindNotRegular}},
		)
	}
	for path, kind := range map[string]bag.Kind{
		"extra.txt": bag.KindExtra, "data/extra.parquet": bag.KindExtra, "data/samples/5.parquet": bag.KindExtra,
		"data/.tmp-1": bag.KindExtra, "data/a b": bag.KindUnsafePath, "data/umlaut-\u00e4": bag.KindUnsafePath,
	} {
		table = append(table, damage{"add " + path, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, path), []byte("x"), 0o644)
		}, path, []bag.Kind{kind}})
	}
	table = append(table,
		damage{"swap two samples files", func(dir string) error {
			return swap(filepath.Join(dir, sampleFile(1)), filepath.Join(dir, sampleFile(2)))
		}, sampleFile(1), []bag.Kind{bag.KindChanged}},
		damage{"swap two tables", func(dir string) error {
			return swap(filepath.Join(dir, HostFile), filepath.Join(dir, InputsFile))
		}, InputsFile, []bag.Kind{bag.KindChanged}},
		damage{"drop a line of the manifest", editManifest(func(lines []string) []string { return lines[1:] }), bag.ManifestFile, []bag.Kind{bag.KindChanged}},
		damage{"link out of the bundle", func(dir string) error {
			return os.Symlink("/etc/passwd", filepath.Join(dir, "data/passwd"))
		}, "data/passwd", []bag.Kind{bag.KindNotRegular}},
	)
	for _, d := range table {
		dir := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
			t.Fatal(err)
		}
		if err := d.do(dir); err != nil {
			t.Fatalf("%s: %v", d.what, err)
		}
		mustFind(t, dir, d.what, d.path, d.kinds...)
		if _, err := Open(dir); err == nil && !strings.Contains(d.path, "samples/") {
			t.Errorf("%s: Open takes the bundle", d.what)
		}
	}
	t.Logf("%d kinds of damage, all found", len(table))
}

func swap(a, b string) error {
	return errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b))
}

func editManifest(edit func([]string) []string) func(dir string) error {
	return func(dir string) error {
		path := filepath.Join(dir, bag.ManifestFile)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := edit(strings.SplitAfter(string(text), "\n"))
		return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644)
	}
}

// reseal makes the manifests agree with the files, as a careful forger would.
func reseal(t testing.TB, dir string) {
	t.Helper()
	payload := bag.Payload{}
	for _, name := range filesOf(t, dir) {
		if !strings.HasPrefix(name, bag.PayloadDir) {
			continue
		}
		sum, size, err := digest.File(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		payload.Entries = append(payload.Entries, bag.Entry{Path: name, SHA256: sum})
		payload.Bytes += size
	}
	if _, err := bag.Write(quickFS{}, dir, payload, nil); err != nil {
		t.Fatal(err)
	}
}

// rewriteRun changes data/run.json as a map.
func rewriteRun(t testing.TB, dir string, edit func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, RunFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var run map[string]any
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	edit(run)
	if text, err = json.Marshal(run); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestContradictionsBehindMatchingHashesAreFound forges bundles whose hashes
// are all right.
func TestContradictionsBehindMatchingHashesAreFound(t *testing.T) {
	for _, c := range []struct {
		what string
		do   func(t *testing.T, dir string)
		path string
		kind bag.Kind
		// opens says whether the bundle can be opened all the same.
		opens bool
	}{
		{"newer version", func(t *testing.T, dir string) {
			rewriteRun(t, dir, func(run map[string]any) { run["schema_version"] = records.SchemaVersion + 1 })
		}, RunFile, KindVersion, false},
		{"version zero", func(t *testing.T, dir string) {
			rewriteRun(t, dir, func(run map[string]any) { run["schema_version"] = 0 })
		}, RunFile, KindVersion, false},
		{"no version", func(t *testing.T, dir string) {
			rewriteRun(t, dir, func(run map[string]any) { delete(run, "schema_version") })
		}, RunFile, KindVersion, false},
		{"run.json is no JSON", func(t *testing.T, dir string) { write(t, dir, RunFile, "{") }, RunFile, bag.KindMalformed, false},
		{"run.json of another shape", func(t *testing.T, dir string) {
			rewriteRun(t, dir, func(run map[string]any) { run["arms"] = 3 })
		}, RunFile, bag.KindMalformed, false},
		{"planned processes", func(t *testing.T, dir string) {
			rewriteRun(t, dir, func(run map[string]any) { run["planned_processes"] = 6 })
		}, RunFile, KindCount, true},
		{"processes", func(t *testing.T, dir string) {
			rewriteRun(t, dir, func(run map[string]any) { run["processes"] = 5 })
		}, RunFile, KindCount, true},
		{"samples", func(t *testing.T, dir string) {
			rewriteRun(t, dir, func(run map[string]any) { run["samples"] = 401 })
		}, RunFile, KindCount, true},
		{"another plan", func(t *testing.T, dir string) { write(t, dir, PlanFile, "plan: 2\n") }, PlanFile, KindContradiction, true},
		{"swapped samples", func(t *testing.T, dir string) {
			if err := swap(filepath.Join(dir, sampleFile(1)), filepath.Join(dir, sampleFile(2))); err != nil {
				t.Fatal(err)
			}
		}, sampleFile(1), KindContradiction, true},
		{"samples missing", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, sampleFile(3))); err != nil {
				t.Fatal(err)
			}
		}, sampleFile(3), bag.KindMissing, true},
		{"samples of nobody", func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, sampleFile(3)))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, sampleFile(30), string(content))
		}, sampleFile(30), KindContradiction, true},
		{"stray file among the samples", func(t *testing.T, dir string) {
			write(t, dir, samplesDir+"/x.parquet", "PAR1")
		}, samplesDir + "/x.parquet", bag.KindExtra, false},
		{"samples cut", func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, sampleFile(3)), 200); err != nil {
				t.Fatal(err)
			}
		}, sampleFile(3), KindUndecodable, true},
		{"cells are no table", func(t *testing.T, dir string) { write(t, dir, CellsFile, "PAR1PAR1") }, CellsFile, KindUndecodable, true},
		{"processes are another table", func(t *testing.T, dir string) {
			content, err := os.ReadFile(filepath.Join(dir, HostFile))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, ProcessesFile, string(content))
		}, ProcessesFile, KindUndecodable, true},
		{"no inputs at all", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, InputsFile)); err != nil {
				t.Fatal(err)
			}
		}, InputsFile, bag.KindMissing, false},
		{"other amounts than planned", func(t *testing.T, dir string) {
			b, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			cells, err := b.Cells()
			if err != nil {
				t.Fatal(err)
			}
			processes, err := b.Processes()
			if err != nil {
				t.Fatal(err)
			}
			for i := range cells {
				more := *processes[0].MeasuredOperations + 1
				cells[i].PlannedOperations = &more
			}
			var table bytes.Buffer
			if err := parquetfile.WriteCells(&table, cells); err != nil {
				t.Fatal(err)
			}
			write(t, dir, CellsFile, table.String())
		}, ProcessesFile, KindCount, true},
		{"data package of other hashes", func(t *testing.T, dir string) {
			write(t, dir, PackageFile, `{"resources":[]}`)
		}, PackageFile, KindContradiction, true},
	} {
		dir := sealedStudy(t)
		c.do(t, dir)
		reseal(t, dir)
		mustFind(t, dir, c.what, c.path, c.kind)
		b, err := Open(dir)
		if (err == nil) != c.opens || err != nil && !errors.Is(err, ErrIntegrity) {
			t.Errorf("%s: Open: %v, want opens %v", c.what, err, c.opens)
		}
		if err == nil {
			b.Close()
		}
	}
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestStrangersBundleCannotReachOutside puts hostile manifests and links into a
// bundle. Nothing outside is read: the secret's hash is right and would match.
func TestStrangersBundleCannotReachOutside(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := digest.Sum([]byte("secret"))
	for _, path := range []string{"data/../../secret", secret, "../secret", "data//x", "data/./x", "data/", "data/a\\b", "data/%2e%2e/x", "data/x\x00"} {
		dir := sealedStudy(t)
		err := editManifest(func(lines []string) []string { return append(lines, sum.String()+"  "+path+"\n") })(dir)
		if err != nil {
			t.Fatal(err)
		}
		mustFind(t, dir, "manifest lists "+path, bag.ManifestFile, bag.KindMalformed)
		if _, err := Open(dir); !errors.Is(err, ErrIntegrity) {
			t.Errorf("manifest lists %q: Open: %v, want ErrIntegrity", path, err)
		}
	}
	dir := sealedStudy(t)
	outside := filepath.Join(t.TempDir(), "samples")
	if err := os.Rename(filepath.Join(dir, samplesDir), outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, samplesDir)); err != nil {
		t.Fatal(err)
	}
	mustFind(t, dir, "samples are a link out of the bundle", samplesDir, bag.KindNotRegular)
	if _, err := Open(dir); !errors.Is(err, ErrIntegrity) {
		t.Errorf("Open: %v, want ErrIntegrity", err)
	}
}

func TestTarRoundTrip(t *testing.T) {
	dir := sealedStudy(t)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	unpacked := filepath.Join(t.TempDir(), "elsewhere")
	for r := tar.NewReader(&archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		path := filepath.Join(unpacked, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := verifyClean(t, dir), verifyClean(t, unpacked); a.Identity != b.Identity {
		t.Errorf("identity was %s, is %s", a.Identity, b.Identity)
	}
}
