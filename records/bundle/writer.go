package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bag"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// Writer writes a bundle that is not sealed yet. What its methods have returned
// from without an error is on disk for good. It is not safe for concurrent use.
type Writer struct {
	fs    atomicfile.FS
	final string // the name the bundle gets when it is sealed
	dir   string // final + PartialSuffix
	lock  *dirLock

	run     records.Run
	plan    []byte
	host    []records.HostFact
	inputs  []records.Input
	commits map[int32]commit
	samples parquetfile.SampleWriter
	// complete is set once the tag manifest is written: what is left of sealing
	// changes no content.
	complete bool
	identity digest.SHA256
}

// Create starts a bundle that will be called dir when it is sealed. It refuses
// when dir exists (fs.ErrExist) or an unfinished bundle of that name does
// (ErrUnfinished); the rest of a Create that was cut short it takes over. A
// Create that fails takes away what it made.
func Create(fsys atomicfile.FS, dir string, planYAML []byte, run records.Run, cells []records.Cell) (*Writer, error) {
	w := newWriter(fsys, dir)
	if err := w.create(planYAML, run, cells); err != nil {
		w.Close()
		return nil, fmt.Errorf("create bundle %s: %w", dir, err)
	}
	return w, nil
}

func newWriter(fsys atomicfile.FS, dir string) *Writer {
	dir = filepath.Clean(dir)
	return &Writer{fs: fsys, final: dir, dir: dir + PartialSuffix, commits: make(map[int32]commit)}
}

func (w *Writer) create(planYAML []byte, run records.Run, cells []records.Cell) (err error) {
	if len(planYAML) > maxPlanBytes {
		return fmt.Errorf("plan of %d bytes, at most %d are kept", len(planYAML), maxPlanBytes)
	}
	if err := w.refuseFinal(); err != nil {
		return err
	}
	if err = w.fs.Mkdir(w.dir, 0o755); err == nil {
		defer func() {
			if err != nil && !errors.Is(err, ErrBusy) {
				w.discard()
			}
		}()
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if w.lock, err = lockDir(w.dir); err != nil {
		return err
	}
	if err := w.clearUnbegun(); err != nil {
		return err
	}
	for _, dir := range []string{strings.TrimSuffix(bag.PayloadDir, "/"), samplesDir, commitsDir} {
		if err := w.fs.Mkdir(w.path(dir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for _, dir := range []string{filepath.Dir(w.dir), w.dir, w.path(bag.PayloadDir)} {
		if err := w.fs.SyncDir(dir); err != nil {
			return err
		}
	}
	w.plan = slices.Clone(planYAML)
	if err := atomicfile.WriteBytes(w.fs, w.path(PlanFile), 0o644, planYAML); err != nil {
		return err
	}
	err = atomicfile.Write(w.fs, w.path(CellsFile), 0o644, func(dst io.Writer) error {
		return parquetfile.WriteCells(dst, cells)
	})
	if err != nil {
		return err
	}
	return w.SetRun(run)
}

// discard takes the directory away, as far as the disk lets it: the next Create
// takes over what stays.
func (w *Writer) discard() {
	for _, name := range []string{
		RunFile, CellsFile, PlanFile, commitsDir, samplesDir, strings.TrimSuffix(bag.PayloadDir, "/"), ".",
	} {
		_ = w.fs.Remove(w.path(name))
	}
}

func (w *Writer) refuseFinal() error {
	_, err := os.Lstat(w.final)
	if err == nil {
		return fmt.Errorf("%s: %w", w.final, fs.ErrExist)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// clearUnbegun makes sure that the partial directory holds nothing but what a
// Create that was cut short can have left, and drops its temporary files.
func (w *Writer) clearUnbegun() error {
	if _, err := os.Lstat(w.path(RunFile)); err == nil {
		return fmt.Errorf("%s: %w: resume it or remove it", w.dir, ErrUnfinished)
	}
	return filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == w.dir {
			return err
		}
		name := w.relative(path)
		switch {
		case atomicfile.IsTemp(path) && entry.Type().IsRegular():
			return w.fs.Remove(path)
		case entry.IsDir() && (name+"/" == bag.PayloadDir || name == samplesDir || name == commitsDir),
			entry.Type().IsRegular() && (name == PlanFile || name == CellsFile):
			return nil
		}
		return fmt.Errorf("%s: %w: it is in the way and no rest of a collection", path, fs.ErrExist)
	})
}

// Resume opens the unsealed bundle that will be called dir. It drops what an
// interrupted write left and keeps every process that was committed; a commit
// whose samples are not what it says is ErrIntegrity. Errors: fs.ErrExist when
// dir is sealed already, fs.ErrNotExist when there is nothing, ErrNotBegun,
// ErrBusy.
func Resume(fsys atomicfile.FS, dir string) (*Writer, error) {
	w := newWriter(fsys, dir)
	if err := w.resume(); err != nil {
		w.Close()
		return nil, fmt.Errorf("resume bundle %s: %w", dir, err)
	}
	return w, nil
}

func (w *Writer) resume() (err error) {
	if err := w.refuseFinal(); err != nil {
		return err
	}
	if w.lock, err = lockDir(w.dir); err != nil {
		return err
	}
	if _, err := os.Lstat(w.path(RunFile)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", w.dir, ErrNotBegun)
	}
	if err := w.dropTemps(); err != nil {
		return err
	}
	if err := w.load(); err != nil {
		return err
	}
	if _, err := os.Lstat(w.path(bag.TagManifestFile)); err == nil {
		return w.loadComplete()
	}
	if err := w.loadCommits(); err != nil {
		return err
	}
	return w.dropUncommitted()
}

// load reads what Create, SetRun, SetHost and SetInputs wrote.
func (w *Writer) load() error {
	text, err := os.ReadFile(w.path(RunFile))
	if err != nil {
		return err
	}
	if w.run, err = decodeRun(text); err != nil {
		return err
	}
	if w.plan, err = os.ReadFile(w.path(PlanFile)); err != nil {
		return err
	}
	if w.host, err = readTable(w.path(HostFile), parquetfile.ReadHost); err != nil {
		return err
	}
	w.inputs, err = readTable(w.path(InputsFile), parquetfile.ReadInputs)
	return err
}

// readTable reads a table that may not have been written yet.
func readTable[Row any](path string, read func(io.ReaderAt, int64) ([]Row, error)) ([]Row, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	rows, err := read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}

func (w *Writer) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *Writer) relative(path string) string {
	rel, err := filepath.Rel(w.dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// Dir returns the directory the bundle has while it is not sealed.
func (w *Writer) Dir() string { return w.dir }

// Complete reports whether sealing got so far that only Seal is left to call:
// nothing can be added any more.
func (w *Writer) Complete() bool { return w.complete }

// Run returns the run as it was last set.
func (w *Writer) Run() records.Run { return w.run }

// Plan returns data/plan.yaml.
func (w *Writer) Plan() []byte { return slices.Clone(w.plan) }

// Host returns the facts that SetHost was last given.
func (w *Writer) Host() []records.HostFact { return slices.Clone(w.host) }

// Inputs returns the rows that SetInputs was last given.
func (w *Writer) Inputs() []records.Input { return slices.Clone(w.inputs) }

// Processes returns the committed processes in the order of their numbers.
// Stdout and Stderr are left out: they are on disk, and the collector's memory
// stays small.
func (w *Writer) Processes() []records.Process {
	rows := make([]records.Process, 0, len(w.commits))
	for _, no := range slices.Sorted(maps.Keys(w.commits)) {
		rows = append(rows, w.commits[no].Process)
	}
	return rows
}

// SetRun replaces data/run.json. Seal fills in what it counts itself.
func (w *Writer) SetRun(run records.Run) error {
	if w.complete {
		return ErrSealed
	}
	run.SchemaVersion = records.SchemaVersion
	run.PlanSHA256 = digest.Sum(w.plan).String()
	text, err := encodeRun(run)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(w.fs, w.path(RunFile), 0o644, text); err != nil {
		return err
	}
	w.run = run
	return nil
}

// SetHost replaces data/host.parquet.
func (w *Writer) SetHost(facts []records.HostFact) error {
	err := w.writeTable(HostFile, func(dst io.Writer) error { return parquetfile.WriteHost(dst, facts) })
	if err == nil {
		w.host = slices.Clone(facts)
	}
	return err
}

// SetInputs replaces data/inputs.parquet.
func (w *Writer) SetInputs(inputs []records.Input) error {
	err := w.writeTable(InputsFile, func(dst io.Writer) error { return parquetfile.WriteInputs(dst, inputs) })
	if err == nil {
		w.inputs = slices.Clone(inputs)
	}
	return err
}

func (w *Writer) writeTable(name string, fill func(io.Writer) error) error {
	if w.complete {
		return ErrSealed
	}
	return atomicfile.Write(w.fs, w.path(name), 0o644, fill)
}

// AddFile stores one more file as data/<name>. The name has one or more safe
// elements and is not one that the bundle itself uses.
func (w *Writer) AddFile(name string, content io.Reader) error {
	full := bag.PayloadDir + name
	if err := bag.CheckPath(full); err != nil {
		return fmt.Errorf("add file to %s: %w", w.dir, err)
	}
	if slices.Contains(payloadFiles[:], full) || strings.HasPrefix(full, samplesDir) || strings.Contains(name, "/") || atomicfile.IsTemp(full) {
		return fmt.Errorf("add file to %s: the name %s is not free", w.dir, full)
	}
	return w.writeTable(full, func(dst io.Writer) error {
		_, err := io.Copy(dst, content)
		return err
	})
}

// Close lets go of the bundle without sealing it; Resume opens it again.
func (w *Writer) Close() {
	if w.lock != nil {
		w.lock.unlock()
		w.lock = nil
	}
}

func encodeRun(run records.Run) ([]byte, error) {
	text, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode run: %w", err)
	}
	return append(text, '\n'), nil
}

func decodeRun(text []byte) (records.Run, error) {
	var version struct {
		SchemaVersion *int `json:"schema_version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return records.Run{}, fmt.Errorf("%s: %w", RunFile, err)
	}
	if v := version.SchemaVersion; v == nil || *v < 1 || *v > records.SchemaVersion {
		return records.Run{}, versionError{v}
	}
	var run records.Run
	if err := json.Unmarshal(text, &run); err != nil {
		return records.Run{}, fmt.Errorf("%s: %w", RunFile, err)
	}
	return run, nil
}

// versionError says that a bundle's schema version is not one this code reads.
type versionError struct{ version *int }

func (e versionError) Error() string {
	if e.version == nil {
		return fmt.Sprintf("%s: no schema_version, this version reads 1 to %d", RunFile, records.SchemaVersion)
	}
	return fmt.Sprintf("%s: schema_version is %d, this version reads 1 to %d", RunFile, *e.version, records.SchemaVersion)
}

func (versionError) Is(target error) bool { return target == ErrIntegrity }
