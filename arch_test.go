package pairbench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "pairbench"

// goFile is one parsed file of the project.
type goFile struct {
	path    string // relative, with slashes
	dir     string
	test    bool
	ast     *ast.File
	imports []string
}

// parseHouse parses every Go file of the module in this process: a test that
// asked the go command would be served a stale answer from the test cache.
func parseHouse(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if p != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "dist" || nestedModule(p)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		f := goFile{path: filepath.ToSlash(p), dir: path.Dir(filepath.ToSlash(p)), test: strings.HasSuffix(p, "_test.go"), ast: parsed}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imported)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files found: the house is not where this test looks")
	}
	return files
}

func nestedModule(dir string) bool {
	if dir == "." {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// room is the top-level folder of a path inside the module.
func room(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	return first
}

// within reports whether dir is root or lies below it.
func within(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

// mayImport is the whole list of arrows between rooms. A room may always import
// its own folder's packages, under the rules of TestRootsConduct.
var mayImport = map[string][]string{
	"schemas": {},
	"records": {"schemas"},
	"collect": {"records", "schemas"},
	"analyze": {"records", "schemas"},
	"render":  {"analyze/report", "records/atomicfile", "schemas"},
	"cmd":     {"records", "collect", "analyze", "render", "schemas"},
}

// recordsRoot is the data model, which every room may name.
const recordsRoot = "records"

func TestArrowsGoOneWay(t *testing.T) {
	for _, f := range parseHouse(t) {
		if f.dir == "." || f.test {
			continue
		}
		allowed, known := mayImport[room(f.dir)]
		if !known {
			t.Errorf("%s: folder %s is not a room of the house", f.path, room(f.dir))
			continue
		}
		for _, imported := range f.imports {
			target, ours := strings.CutPrefix(imported, module+"/")
			if !ours || room(target) == room(f.dir) || target == recordsRoot {
				continue
			}
			ok := false
			for _, a := range allowed {
				ok = ok || within(target, a)
			}
			if !ok {
				t.Errorf("%s imports %s: allowed from %s are only %v", f.path, target, room(f.dir), allowed)
			}
		}
	}
}

func TestRootsConductAndChildrenNeverImportThem(t *testing.T) {
	for _, f := range parseHouse(t) {
		r := room(f.dir)
		if f.test || f.dir == r || r == "records" || r == "cmd" {
			continue
		}
		for _, imported := range f.imports {
			if imported == module+"/"+r {
				t.Errorf("%s imports its room's root %s: the root conducts, children never import it", f.path, r)
			}
		}
	}
	for _, f := range parseHouse(t) {
		if f.dir != "records" || f.test {
			continue
		}
		for _, imported := range f.imports {
			if strings.HasPrefix(imported, module+"/") {
				t.Errorf("%s imports %s: the data model knows nothing else of the project", f.path, imported)
			}
		}
	}
}

// ownedImports names libraries that only some packages may touch, and why.
var ownedImports = []struct {
	library string
	owners  []string
	why     string
}{
	{"github.com/parquet-go/parquet-go", []string{"records/parquetfile"}, "one package knows the traps of the Parquet libraries"},
	{"github.com/apache/arrow", []string{"records/parquetfile"}, "one package knows the traps of the Parquet libraries"},
	{"github.com/urfave/cli", []string{"cmd/pairbench"}, "the measured process carries no CLI library"},
	{"github.com/redis/go-redis", []string{"collect/workload/redis"}, "a client library belongs to its workload"},
	{"github.com/go-sql-driver/mysql", []string{"collect/workload/mysql"}, "a client library belongs to its workload"},
	{"github.com/gorilla/websocket", []string{"collect/workload/echo", "collect/workload/echoserver"}, "a client library belongs to its workload"},
	{"github.com/goccy/go-yaml", []string{"collect/plan"}, "only plans are YAML"},
}

func TestLibrariesHaveOwners(t *testing.T) {
	for _, f := range parseHouse(t) {
		if f.test {
			continue
		}
		for _, imported := range f.imports {
			for _, o := range ownedImports {
				if !within(imported, o.library) {
					continue
				}
				ok := false
				for _, owner := range o.owners {
					ok = ok || within(f.dir, owner)
				}
				if !ok {
					t.Errorf("%s imports %s: only %v may, because %s", f.path, imported, o.owners, o.why)
				}
			}
		}
	}
}

// TestMeasuredProcessStaysSmall follows the imports of pbdriver through the
// whole module: what it reaches is loaded into every measured process.
func TestMeasuredProcessStaysSmall(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range parseHouse(t) {
		if !f.test {
			imports[f.dir] = append(imports[f.dir], f.imports...)
		}
	}
	if len(imports["cmd/pbdriver"]) == 0 {
		t.Fatal("cmd/pbdriver has no imports: this test looks in the wrong place")
	}
	seen := map[string]bool{}
	var visit func(dir string)
	visit = func(dir string) {
		if seen[dir] {
			return
		}
		seen[dir] = true
		for _, imported := range imports[dir] {
			if target, ours := strings.CutPrefix(imported, module+"/"); ours {
				if !within(target, "collect/driver") && !within(target, "collect/workload") && target != recordsRoot {
					t.Errorf("pbdriver reaches %s through %s: only collect/driver and collect/workload may be in the measured process", target, dir)
				}
				visit(target)
			}
		}
	}
	visit("cmd/pbdriver")
}

func TestEveryPackageHasOnePackageComment(t *testing.T) {
	comments := map[string][]string{}
	packages := map[string]bool{}
	for _, f := range parseHouse(t) {
		if f.test {
			continue
		}
		packages[f.dir] = true
		if f.ast.Doc != nil && !strings.HasPrefix(f.ast.Doc.Text(), "Code generated") {
			comments[f.dir] = append(comments[f.dir], f.path)
		}
	}
	for dir := range packages {
		if n := len(comments[dir]); n != 1 {
			sort.Strings(comments[dir])
			t.Errorf("package %s has %d package comments %v, expected exactly one", dir, n, comments[dir])
		}
	}
}

func TestExportedIdentifiersAreDocumented(t *testing.T) {
	for _, f := range parseHouse(t) {
		if f.test || f.ast.Name.Name == "main" {
			continue
		}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnownMethod(d) {
					t.Errorf("%s: %s has no doc comment", f.path, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					s, ok := spec.(*ast.TypeSpec)
					if ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						t.Errorf("%s: type %s has no doc comment", f.path, s.Name.Name)
					}
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	name, ok := expr.(*ast.Ident)
	return ok && name.IsExported()
}

// wellKnownMethod reports whether the standard library already says what a
// method of this name does.
func wellKnownMethod(d *ast.FuncDecl) bool {
	switch d.Name.Name {
	case "Error", "Unwrap", "Is", "As", "String", "Len", "Less", "Swap", "Read", "Write", "Close",
		"LocalAddr", "RemoteAddr", "SetDeadline", "SetReadDeadline", "SetWriteDeadline", "MarshalJSON", "UnmarshalJSON":
		return d.Recv != nil
	}
	return false
}

func TestPackageNamesSayWhatTheyHold(t *testing.T) {
	for _, f := range parseHouse(t) {
		switch f.ast.Name.Name {
		case "util", "utils", "common", "base", "types", "helpers", "misc":
			t.Errorf("%s: package %s names no thing", f.path, f.ast.Name.Name)
		}
	}
}

func TestTopLevelHasOnlyTheSixRooms(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	passing := map[string]bool{"bin": true, "dist": true, "pairbench-results": true}
	for _, e := range entries {
		if _, isRoom := mayImport[e.Name()]; e.IsDir() && !isRoom && !passing[e.Name()] && !strings.HasPrefix(e.Name(), ".") {
			t.Errorf("folder %s at the top level is not in the design", e.Name())
		}
	}
}

// TestNoTestIsSkipped keeps the promise that a test that needs a server gets
// one: nothing in the module may leave a test out.
func TestNoTestIsSkipped(t *testing.T) {
	skipping := []string{"Skip", "SkipNow", "Skipf"}
	for _, f := range parseHouse(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			receiver, ok := sel.X.(*ast.Ident)
			if !ok || (receiver.Name != "t" && receiver.Name != "b" && receiver.Name != "f" && receiver.Name != "tb") {
				return true
			}
			for _, s := range skipping {
				if sel.Sel.Name == s {
					t.Errorf("%s calls %s.%s: no test is skipped", f.path, receiver.Name, s)
				}
			}
			return true
		})
	}
}
