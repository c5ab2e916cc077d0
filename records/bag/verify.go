package bag

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"pairbench/records/digest"
)

// Kind says what is wrong with a file of a bag.
type Kind string

// The kinds of findings that concern files. Package bundle adds its own.
const (
	KindMissing    Kind = "missing"     // listed, not there
	KindChanged    Kind = "changed"     // there, with another hash
	KindExtra      Kind = "extra"       // there, listed nowhere
	KindUnsafePath Kind = "unsafe_path" // a name no bag may have
	KindNotRegular Kind = "not_regular" // a link, device, pipe or socket
	KindMalformed  Kind = "malformed"   // a tag file that cannot be read as one
	KindUnreadable Kind = "unreadable"  // the system refuses to read it
)

// Finding is one thing that is wrong with a bag.
type Finding struct {
	Path   string `json:"path"`
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
}

func (f Finding) String() string { return f.Path + ": " + string(f.Kind) + ": " + f.Detail }

// Report is what Verify found.
type Report struct {
	// Identity is the hash of the tag manifest as it is on disk; zero when it
	// cannot be read.
	Identity digest.SHA256
	// Findings are sorted by path, then kind; none means that the bag is whole.
	Findings []Finding
	// Files and Bytes count what was hashed.
	Files int
	Bytes int64
	// Payload is what the manifest lists, by path.
	Payload map[string]digest.SHA256
}

// Verify checks every file of the bag in dir against the manifests, in both
// directions, with one hashing goroutine per processor. It finds everything
// rather than stopping at the first. The error is for a directory that cannot
// be opened and for a cancelled context.
func Verify(ctx context.Context, dir string) (Report, error) {
	d, err := OpenDir(dir)
	if err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", dir, err)
	}
	defer d.Close()
	return Check(ctx, d, func(string) bool { return true })
}

// Check is Verify for a directory that is open already. It hashes only the
// files that hash accepts; that the others are there, and that no file is there
// beyond the manifests, it checks all the same.
func Check(ctx context.Context, d *Dir, hash func(path string) bool) (Report, error) {
	v := &verifier{dir: d, listed: make(map[string]digest.SHA256), findings: make(map[string]bool)}
	v.report.Payload = make(map[string]digest.SHA256)
	v.readManifests()
	present := v.walk()
	for name := range v.listed {
		if !present[name] && !v.findings[name] {
			v.add(name, KindMissing, "listed in a manifest, not in the bag")
		}
	}
	v.hashAll(ctx, present, hash)
	if err := ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", d.Path(), err)
	}
	v.checkTags()
	slices.SortFunc(v.report.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return v.report, nil
}

type verifier struct {
	dir    *Dir
	listed map[string]digest.SHA256

	mu       sync.Mutex
	report   Report
	findings map[string]bool // paths that have one
	payload  int64           // bytes under data/, as found by walk
}

func (v *verifier) add(name string, kind Kind, detail string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Findings = append(v.report.Findings, Finding{Path: name, Kind: kind, Detail: detail})
	v.findings[name] = true
}

func (v *verifier) addError(name string, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.add(name, KindMissing, "not in the bag")
	case errors.Is(err, ErrNotRegular):
		v.add(name, KindNotRegular, err.Error())
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrMalformed):
		v.add(name, KindMalformed, err.Error())
	default:
		v.add(name, KindUnreadable, err.Error())
	}
}

func (v *verifier) readManifests() {
	tags, text, err := readManifest(v.dir, TagManifestFile)
	if err != nil {
		v.addError(TagManifestFile, err)
	} else {
		v.report.Identity = digest.Sum(text)
		// Nothing else vouches for this file, so it must be in the one form
		// that the entries have.
		if canonical, err := EncodeManifest(tags); err != nil || !bytes.Equal(canonical, text) {
			v.add(TagManifestFile, KindMalformed, "not sorted, or not in lower case with two spaces")
		}
		for _, e := range tags {
			if strings.HasPrefix(e.Path, PayloadDir) || e.Path == TagManifestFile {
				v.add(TagManifestFile, KindMalformed, "lists "+e.Path)
				continue
			}
			v.listed[e.Path] = e.SHA256
		}
		for _, name := range []string{DeclarationFile, InfoFile, ManifestFile} {
			if _, ok := v.listed[name]; !ok {
				v.add(TagManifestFile, KindMalformed, "does not list "+name)
			}
		}
	}
	payload, _, err := readManifest(v.dir, ManifestFile)
	if err != nil {
		v.addError(ManifestFile, err)
	}
	for _, e := range payload {
		if !strings.HasPrefix(e.Path, PayloadDir) {
			v.add(ManifestFile, KindMalformed, "lists "+e.Path+", which is not under "+PayloadDir)
			continue
		}
		v.listed[e.Path] = e.SHA256
		v.report.Payload[e.Path] = e.SHA256
	}
}

func readManifest(d *Dir, name string) ([]Entry, []byte, error) {
	text, err := d.ReadFile(name, MaxManifestBytes)
	if err != nil {
		return nil, nil, err
	}
	entries, err := DecodeManifest(bytes.NewReader(text))
	return entries, text, err
}

// walk returns the regular files of the bag and reports everything else.
func (v *verifier) walk() map[string]bool {
	present := make(map[string]bool)
	err := fs.WalkDir(v.dir.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			v.addError(name, err)
			return nil
		}
		if name == "." {
			return nil
		}
		if err := CheckPath(name); err != nil {
			v.add(name, KindUnsafePath, err.Error())
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case entry.IsDir():
		case !entry.Type().IsRegular():
			v.add(name, KindNotRegular, describeType(entry.Type()))
		default:
			present[name] = true
			if info, err := entry.Info(); err == nil && strings.HasPrefix(name, PayloadDir) {
				v.payload += info.Size()
			}
			if _, ok := v.listed[name]; !ok && name != TagManifestFile {
				v.add(name, KindExtra, "in the bag, listed in no manifest")
			}
		}
		return nil
	})
	if err != nil {
		v.addError(".", err)
	}
	return present
}

func (v *verifier) hashAll(ctx context.Context, present map[string]bool, wanted func(string) bool) {
	names := make(chan string)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			buffer := make([]byte, 256<<10)
			for name := range names {
				v.hash(ctx, name, buffer)
			}
		})
	}
	for name := range v.listed {
		if present[name] && wanted(name) && ctx.Err() == nil {
			names <- name
		}
	}
	close(names)
	workers.Wait()
}

func (v *verifier) hash(ctx context.Context, name string, buffer []byte) {
	f, _, err := v.dir.Open(name)
	if err != nil {
		v.addError(name, err)
		return
	}
	defer f.Close()
	hashed := digest.NewReader(contextReader{ctx, f})
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, hashed, buffer); err != nil {
		if ctx.Err() == nil {
			v.addError(name, err)
		}
		return
	}
	v.mu.Lock()
	v.report.Files++
	v.report.Bytes += hashed.Bytes()
	v.mu.Unlock()
	if got, want := hashed.Sum(), v.listed[name]; got != want {
		v.add(name, KindChanged, fmt.Sprintf("sha256 is %s, manifest says %s", got, want))
	}
}

// checkTags looks inside the tag files whose hashes are right.
func (v *verifier) checkTags() {
	if text, err := v.dir.ReadFile(DeclarationFile, MaxTagFileBytes); err == nil && !v.findings[DeclarationFile] {
		if string(text) != declaration {
			v.add(DeclarationFile, KindMalformed, "not the declaration of BagIt 1.0 in UTF-8")
		}
	}
	if text, err := v.dir.ReadFile(InfoFile, MaxTagFileBytes); err == nil && !v.findings[InfoFile] {
		v.checkOxum(text)
	}
}

func (v *verifier) checkOxum(text []byte) {
	fields, err := DecodeInfo(text)
	if err != nil {
		v.add(InfoFile, KindMalformed, err.Error())
		return
	}
	want := fmt.Sprintf("%d.%d", v.payload, len(v.report.Payload))
	for _, f := range fields {
		if f.Label == "Payload-Oxum" && f.Value != want {
			v.add(InfoFile, KindMalformed, fmt.Sprintf("Payload-Oxum says %s, the bag holds %s", f.Value, want))
		}
	}
}

type contextReader struct {
	ctx context.Context
	f   *os.File
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.f.Read(p)
}
