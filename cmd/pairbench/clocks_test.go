package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestDurationsAreMonotonic reads the source of everything that measures: a
// duration is a difference of two times that carry the monotonic clock, so that
// a wall clock that steps back changes none.
func TestDurationsAreMonotonic(t *testing.T) {
	var files, differences int
	for _, root := range []string{"../../collect", "../../records", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			files++
			wall, all := wallDifferences(file)
			differences += all
			for _, node := range wall {
				t.Errorf("%s: a difference of wall clock times", set.Position(node.Pos()))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if differences == 0 {
		t.Errorf("no duration is measured in %d files: the test reads the wrong ones", files)
	}
}

func TestWallDifferences(t *testing.T) {
	tests := []struct {
		expr string
		wall bool
	}{
		{"time.Since(start)", false},
		{"end.Sub(start)", false},
		{"time.Until(deadline)", false},
		{"end.UnixNano() - start.UnixNano()", true},
		{"time.Now().UnixMilli() - began", true},
		{"(now.Unix()) - began", true},
		{"int64(now.UnixMicro()) - began", true},
		{"p.StartedUnixNs - before.StartedUnixNs", true},
		{"time.Now().UTC().Sub(start)", true},
		{"end.Sub(start.Round(0))", true},
		{"end.Sub(p.StartedAt)", true},
		{"time.Since(p.StartedAt)", true},
		{"time.Since(time.Unix(s, 0))", true},
		{"time.Since(start.Truncate(time.Microsecond))", true},
		{"time.Until(deadline.UTC())", true},
	}
	for _, test := range tests {
		expr, err := parser.ParseExpr(test.expr)
		if err != nil {
			t.Fatal(err)
		}
		wall, all := wallDifferences(expr)
		if got := len(wall) > 0; got != test.wall || !test.wall && all != 1 {
			t.Errorf("%s: wall clock %t, want %t; %d differences", test.expr, got, test.wall, all)
		}
	}
}

// wallDifferences lists the differences of times that lack the monotonic clock,
// as far as the expression itself tells, and counts all differences of times.
func wallDifferences(root ast.Node) (wall []ast.Node, all int) {
	ast.Inspect(root, func(n ast.Node) bool {
		var times []ast.Expr
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.SUB && (isWallTime(n.X) || isWallTime(n.Y)) {
				times = []ast.Expr{n.X, n.Y}
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) != 1 {
				return true
			}
			switch sel.Sel.Name {
			case "Sub":
				times = []ast.Expr{sel.X, n.Args[0]}
			case "Since", "Until":
				times = n.Args
			}
		}
		if len(times) == 0 {
			return true
		}
		all++
		for _, x := range times {
			if isWallTime(x) {
				wall = append(wall, n)
				break
			}
		}
		return true
	})
	return wall, all
}

// isWallTime tells whether x is a time without the monotonic clock or a count
// from the epoch: by the call that makes it, or by a field that holds one.
func isWallTime(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return isWallTime(x.X)
	case *ast.SelectorExpr:
		return x.Sel.Name == "StartedAt" || x.Sel.Name == "StartedUnixNs"
	case *ast.CallExpr:
		switch f := x.Fun.(type) {
		case *ast.Ident: // a conversion, int64(…)
			return len(x.Args) == 1 && isWallTime(x.Args[0])
		case *ast.SelectorExpr:
			switch f.Sel.Name {
			case "Unix", "UnixNano", "UnixMicro", "UnixMilli", "UTC", "Local", "In", "Round", "Truncate", "Parse", "Date":
				return true
			}
		}
	}
	return false
}
