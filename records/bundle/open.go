package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pairbench/records"
	"pairbench/records/bag"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// Bundle is a sealed bundle that is open for reading. It is safe for concurrent
// use, except that Samples is not.
type Bundle struct {
	dir      *bag.Dir
	identity digest.SHA256
	payload  map[string]digest.SHA256
	run      records.Run
	merged   map[int32]mergedRef
	single   map[int32]string

	mu     sync.Mutex
	hashed map[string]error // merged files that were hashed, with the outcome
}

// mergedRef says where a process stands in a merged file.
type mergedRef struct {
	path  string
	index *parquetfile.MergedIndex
}

// IntegrityError holds what is wrong with a bundle. It is an ErrIntegrity.
type IntegrityError struct {
	Dir      string
	Findings []bag.Finding
}

func (e *IntegrityError) Error() string {
	text := fmt.Sprintf("bundle %s: %v: %s", e.Dir, ErrIntegrity, e.Findings[0])
	if n := len(e.Findings) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}

// Is makes the error an ErrIntegrity.
func (e *IntegrityError) Is(target error) bool { return target == ErrIntegrity }

// Open opens a sealed bundle. It checks every file but the samples against the
// manifests, and that no file is missing or extra; the samples of a process are
// checked when they are opened. Errors: fs.ErrNotExist, ErrUnfinished,
// ErrNoBundle, and ErrIntegrity as an *IntegrityError with all that was found.
func Open(dir string) (*Bundle, error) {
	b, err := open(dir)
	if err != nil {
		var found *IntegrityError
		if errors.As(err, &found) {
			return nil, err
		}
		return nil, fmt.Errorf("open bundle %s: %w", dir, err)
	}
	return b, nil
}

func open(dir string) (*Bundle, error) {
	if err := refuseOthers(dir); err != nil {
		return nil, err
	}
	d, err := bag.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	b := &Bundle{dir: d, hashed: make(map[string]error)}
	if err := b.load(); err != nil {
		d.Close()
		return nil, err
	}
	return b, nil
}

// refuseOthers refuses what is unfinished, and a directory that holds nothing
// of a bundle, of which every file would be a finding.
func refuseOthers(dir string) error {
	if err := refuseUnfinished(dir); err != nil {
		return err
	}
	claims := func(dir string) bool {
		for _, name := range []string{bag.DeclarationFile, bag.ManifestFile, bag.TagManifestFile, "data"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
				return true
			}
		}
		return false
	}
	if claims(dir) {
		return nil
	}
	if within := filepath.Join(dir, "bundle"); claims(within) {
		return fmt.Errorf("%w: it holds one, %s", ErrNoBundle, within)
	}
	return fmt.Errorf("%w: no manifest and no data in it", ErrNoBundle)
}

func refuseUnfinished(dir string) error {
	_, err := os.Lstat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		if strings.HasSuffix(filepath.Clean(dir), PartialSuffix) && err == nil {
			return fmt.Errorf("%w: resume the collection to seal it", ErrUnfinished)
		}
		return err
	}
	if _, partial := os.Lstat(filepath.Clean(dir) + PartialSuffix); partial == nil {
		return fmt.Errorf("%w: %s%s is there, resume the collection to seal it", ErrUnfinished, filepath.Clean(dir), PartialSuffix)
	}
	return err
}

func (b *Bundle) load() error {
	report, err := bag.Check(context.Background(), b.dir, func(path string) bool { return !isSample(path) })
	if err != nil {
		return err
	}
	b.identity, b.payload = report.Identity, report.Payload
	findings := report.Findings
	for _, name := range payloadFiles {
		if _, ok := b.payload[name]; !ok {
			findings = append(findings, bag.Finding{Path: name, Kind: bag.KindMissing, Detail: "no bundle is without it"})
		}
	}
	if len(findings) > 0 {
		return &IntegrityError{b.dir.Path(), findings}
	}
	text, err := b.dir.ReadFile(RunFile, maxRunBytes)
	if err != nil {
		return b.integrity(RunFile, bag.KindUnreadable, err)
	}
	if b.run, err = decodeRun(text); err != nil {
		return b.integrity(RunFile, runKind(err), err)
	}
	return b.indexSamples()
}

func isSample(path string) bool { return strings.HasPrefix(path, samplesDir+"/") }

func runKind(err error) bag.Kind {
	if errors.As(err, new(versionError)) {
		return KindVersion
	}
	return bag.KindMalformed
}

func (b *Bundle) integrity(path string, kind bag.Kind, err error) error {
	return &IntegrityError{b.dir.Path(), []bag.Finding{{Path: path, Kind: kind, Detail: err.Error()}}}
}

// Close releases the directory. Samples that are open stay open.
func (b *Bundle) Close() error { return b.dir.Close() }

// Identity is the SHA-256 of tagmanifest-sha256.txt.
func (b *Bundle) Identity() digest.SHA256 { return b.identity }

// Run returns data/run.json.
func (b *Bundle) Run() records.Run { return b.run }

// Plan returns data/plan.yaml, byte for byte as the user wrote it.
func (b *Bundle) Plan() ([]byte, error) {
	text, err := b.dir.ReadFile(PlanFile, maxPlanBytes)
	if err != nil {
		return nil, b.integrity(PlanFile, bag.KindUnreadable, err)
	}
	return text, nil
}

// Cells returns data/cells.parquet. A factor has the kind that its suite gives
// it, also where several suites share its column.
func (b *Bundle) Cells() ([]records.Cell, error) {
	cells, err := readPayload(b, CellsFile, parquetfile.ReadCells)
	if err != nil {
		return nil, err
	}
	kinds := make(map[[2]string]records.FactorKind)
	for _, s := range b.run.Suites {
		for _, f := range s.Factors {
			kinds[[2]string{s.ID, f.Name}] = f.Kind
		}
	}
	for _, cell := range cells {
		for i, f := range cell.Factors {
			value, err := f.Value.As(kinds[[2]string{cell.Suite, f.Name}])
			if err != nil {
				return nil, b.integrity(CellsFile, KindContradiction, fmt.Errorf("cell %s, factor %s: %w", cell.CellID, f.Name, err))
			}
			cell.Factors[i].Value = value
		}
	}
	return cells, nil
}

// Processes returns data/processes.parquet in the order of the file.
func (b *Bundle) Processes() ([]records.Process, error) {
	return readPayload(b, ProcessesFile, parquetfile.ReadProcesses)
}

// Host returns data/host.parquet.
func (b *Bundle) Host() ([]records.HostFact, error) {
	return readPayload(b, HostFile, parquetfile.ReadHost)
}

// Inputs returns data/inputs.parquet.
func (b *Bundle) Inputs() ([]records.Input, error) {
	return readPayload(b, InputsFile, parquetfile.ReadInputs)
}

// readPayload reads a table from memory that was hashed on the way in, so that
// what is decoded is what the manifest vouches for.
func readPayload[Row any](b *Bundle, name string, read func(io.ReaderAt, int64) ([]Row, error)) ([]Row, error) {
	content, err := b.hashedFile(name, maxTableFileBytes)
	if err != nil {
		return nil, err
	}
	rows, err := read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, b.integrity(name, KindUndecodable, err)
	}
	return rows, nil
}

// maxTableFileBytes bounds a table's file; its decoded content has its own bound.
const maxTableFileBytes = 1 << 30

func (b *Bundle) hashedFile(name string, limit int64) ([]byte, error) {
	content, err := b.dir.ReadFile(name, limit)
	if err != nil {
		return nil, b.integrity(name, bag.KindUnreadable, err)
	}
	if got, want := digest.Sum(content), b.payload[name]; got != want {
		return nil, b.changed(name, got, want)
	}
	return content, nil
}

func (b *Bundle) changed(name string, got, want digest.SHA256) error {
	return b.integrity(name, bag.KindChanged, fmt.Errorf("sha256 is %s, manifest says %s", got, want))
}

// ProcessesWithSamples lists the processes that have a samples file, in order.
func (b *Bundle) ProcessesWithSamples() []int32 {
	numbers := make([]int32, 0, len(b.single)+len(b.merged))
	for no := range b.single {
		numbers = append(numbers, no)
	}
	for no := range b.merged {
		numbers = append(numbers, no)
	}
	slices.Sort(numbers)
	return numbers
}

// SampleFile returns the path inside the bundle of the file that holds the
// samples of a process, and the manifest's hash of it.
func (b *Bundle) SampleFile(processNo int32) (path string, sum digest.SHA256, ok bool) {
	path, ok = b.single[processNo]
	if !ok {
		ref, merged := b.merged[processNo]
		path, ok = ref.path, merged
	}
	return path, b.payload[path], ok
}
