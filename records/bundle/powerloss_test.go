package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/records/atomicfile"
)

var errPowerLost = errors.New("power lost")

// powerFS is the real file system plus a model of what would be on the platter.
// Content is durable from the Sync of its file, a name from the SyncDir of its
// directory. After the given number of calls the power is gone: every call
// fails, and lose rewrites the directory to what survived.
type powerFS struct {
	real    quickFS
	root    string
	left    int
	names   map[string]*inode // as the program sees them
	durable map[string]*inode // as they are on the platter
}

// inode is a file or a directory. Renaming moves it, content and all.
type inode struct {
	dir    bool
	synced []byte
}

func newPowerFS(root string, calls int) *powerFS {
	return &powerFS{root: root, left: calls, names: map[string]*inode{}, durable: map[string]*inode{}}
}

func (p *powerFS) spend() error {
	if p.left <= 0 {
		return errPowerLost
	}
	p.left--
	return nil
}

func (p *powerFS) CreateTemp(dir, prefix string) (atomicfile.File, error) {
	if err := p.spend(); err != nil {
		return nil, err
	}
	file, err := p.real.CreateTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	node := &inode{}
	p.names[file.Name()] = node
	return &powerFile{file, p, node}, nil
}

func (p *powerFS) Mkdir(path string, perm fs.FileMode) error {
	if err := p.spend(); err != nil {
		return err
	}
	if err := p.real.Mkdir(path, perm); err != nil {
		return err
	}
	p.names[path] = &inode{dir: true}
	return nil
}

func (p *powerFS) Rename(oldPath, newPath string) error {
	if err := p.spend(); err != nil {
		return err
	}
	if err := p.real.Rename(oldPath, newPath); err != nil {
		return err
	}
	moved := map[string]*inode{}
	for name, node := range p.names {
		if name == oldPath || strings.HasPrefix(name, oldPath+"/") {
			moved[newPath+strings.TrimPrefix(name, oldPath)] = node
			delete(p.names, name)
		}
	}
	maps.Copy(p.names, moved)
	// The entries below a renamed directory are its own, not its parent's.
	below := map[string]*inode{}
	for name, node := range p.durable {
		if strings.HasPrefix(name, oldPath+"/") {
			below[newPath+strings.TrimPrefix(name, oldPath)] = node
		}
	}
	maps.Copy(p.durable, below)
	return nil
}

func (p *powerFS) Remove(path string) error {
	if err := p.spend(); err != nil {
		return err
	}
	if err := p.real.Remove(path); err != nil {
		return err
	}
	delete(p.names, path)
	return nil
}

func (p *powerFS) Chmod(path string, perm fs.FileMode) error {
	if err := p.spend(); err != nil {
		return err
	}
	return p.real.Chmod(path, perm)
}

// SyncDir makes the entries of one directory durable: those that came, those
// that went.
func (p *powerFS) SyncDir(dir string) error {
	if err := p.spend(); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	for name := range p.durable {
		if filepath.Dir(name) == dir && p.names[name] == nil {
			delete(p.durable, name)
			for below := range p.durable {
				if strings.HasPrefix(below, name+"/") {
					delete(p.durable, below)
				}
			}
		}
	}
	for name, node := range p.names {
		if filepath.Dir(name) == dir {
			p.durable[name] = node
		}
	}
	return nil
}

type powerFile struct {
	atomicfile.File
	fs   *powerFS
	node *inode
}

func (f *powerFile) Write(b []byte) (int, error) {
	if err := f.fs.spend(); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *powerFile) Sync() error {
	if err := f.fs.spend(); err != nil {
		return err
	}
	content, err := os.ReadFile(f.Name())
	if err != nil {
		return err
	}
	f.node.synced = content
	return nil
}

func (f *powerFile) Close() error {
	err := f.File.Close()
	if lost := f.fs.spend(); lost != nil {
		return lost
	}
	return err
}

// lose rewrites the root to what survived the power loss. A strict disk keeps
// nothing but what was synced; a lenient one has written every name early, with
// whatever content had been synced, which is what a journal may do.
func (p *powerFS) lose(lenient bool) error {
	survived := p.durable
	if lenient {
		survived = p.names
	}
	entries, err := os.ReadDir(p.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(p.root, e.Name())); err != nil {
			return err
		}
	}
	for name, node := range survived {
		if node.dir && p.reachable(survived, name) {
			if err := os.MkdirAll(name, 0o755); err != nil {
				return err
			}
		}
	}
	for name, node := range survived {
		if !node.dir && p.reachable(survived, name) {
			if err := os.WriteFile(name, node.synced, 0o644); err != nil {
				return err
			}
		}
	}
	// The next session starts from the platter.
	p.names = map[string]*inode{}
	for name, node := range survived {
		if p.reachable(survived, name) {
			p.names[name] = node
		}
	}
	p.durable = maps.Clone(p.names)
	return nil
}

// reachable reports whether every directory above name survived too.
func (p *powerFS) reachable(survived map[string]*inode, name string) bool {
	for dir := filepath.Dir(name); dir != p.root; dir = filepath.Dir(dir) {
		if node := survived[dir]; node == nil || !node.dir {
			return false
		}
	}
	return true
}

// TestPowerLossAtEveryCall pulls the plug after a number of calls, lets the
// disk forget what was never synced, and resumes. Processes that Append had
// promised are there with the same bytes.
func TestPowerLossAtEveryCall(t *testing.T) {
	trials := 0
	for _, lenient := range []bool{false, true} {
		for calls := 0; ; calls += faultStride() {
			root := t.TempDir()
			c := &collector{dir: filepath.Join(root, "demo"), processes: 2, promised: make(map[int32][]byte)}
			disk := newPowerFS(root, calls)
			what := fmt.Sprintf("power lost after %d calls, lenient %v", calls, lenient)
			err := c.session(disk)
			if err == nil {
				if calls == 0 {
					t.Fatal("the study took no calls")
				}
				break
			}
			if !errors.Is(err, errPowerLost) {
				t.Fatalf("%s: %v", what, err)
			}
			trials++
			if err := disk.lose(lenient); err != nil {
				t.Fatal(err)
			}
			promised := maps.Clone(c.promised)
			disk.left = 1 << 30
			if err := c.session(disk); err != nil {
				t.Fatalf("%s: resume: %v", what, err)
			}
			c.check(t, what)
			for no, want := range promised {
				// A half pair was run again, with the same samples in this test.
				if string(c.promised[no]) != string(want) {
					t.Fatalf("%s: process %d was promised and is another one", what, no)
				}
			}
			// What is sealed survives the next power loss whatever the disk does.
			if err := disk.lose(false); err != nil {
				t.Fatal(err)
			}
			c.check(t, what+", and once more after sealing")
		}
	}
	t.Logf("%d power losses, nothing that was promised is lost", trials)
}
