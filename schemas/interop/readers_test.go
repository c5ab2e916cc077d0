package interop

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pairbench/records/bundle"
	"pairbench/records/parquetfile"
)

// table is one table as pairbench's own reader gives it. A value is null, a
// boolean or a text: a number in full, a double's bits, an instant's
// microseconds, bytes in hexadecimal, so that nothing is lost on the way.
type table struct {
	Name    string   `json:"name"`
	Files   []string `json:"files"`
	Columns []column `json:"columns"`
	Rows    [][]any  `json:"rows"`
	// SortBy is how many of the first columns order the rows.
	SortBy int `json:"sort_by"`
}

type column struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Unit string `json:"unit"`
}

// TestEveryReaderReadsEveryTable hands every table of a bundle, of its compacted
// twin and of an analysis to readers that are not ours, and compares names,
// types, units, nulls and values.
func TestEveryReaderReadsEveryTable(t *testing.T) {
	dir := t.TempDir()
	whole, compacted := filepath.Join(dir, "whole"), filepath.Join(dir, "compacted")
	study{seed: 1, cells: 5, rounds: 3, samples: 1001}.write(t, whole)
	_, err := bundle.Compact(whole, compacted)
	check(t, err)
	tables := append(bundleTables(t, whole), bundleTables(t, compacted)...)
	tables = append(tables, analysisTables(t, analysis(t, whole))...)
	for _, table := range tables {
		if len(table.Rows) == 0 {
			t.Errorf("checker is broken: no rows in %s", table.Name)
		}
	}
	file := filepath.Join(dir, "tables.json")
	text, err := json.Marshal(tables)
	check(t, err)
	check(t, os.WriteFile(file, text, 0o600))
	for _, c := range []struct {
		name string
		run  func(*testing.T) string
	}{
		{"python", func(t *testing.T) string { return python(t, "readers.py", file) }},
		{"node", func(t *testing.T) string { return node(t, "readers.mjs", file) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := c.run(t)
			t.Log(out)
			if !strings.Contains(out, fmt.Sprintf("%d tables", len(tables))) {
				t.Errorf("checker is broken: it does not say that it compared %d tables", len(tables))
			}
		})
	}
}

func bundleTables(t *testing.T, dir string) []table {
	t.Helper()
	b, err := bundle.Open(dir)
	check(t, err)
	defer b.Close()
	processes, err := b.Processes()
	check(t, err)
	host, err := b.Host()
	check(t, err)
	inputs, err := b.Inputs()
	check(t, err)
	tables := []table{
		structTable(t, "processes", dir, processes), structTable(t, "host", dir, host), structTable(t, "inputs", dir, inputs),
		fileTable(t, "cells", filepath.Join(dir, "data", "cells.parquet")),
	}
	// Samples with a schedule and without have other columns.
	for _, open := range []bool{false, true} {
		samples := table{Name: "samples", SortBy: 2, Columns: dictionary(t, "samples")}
		if !open {
			samples.Columns = samples.Columns[:4]
		}
		for _, p := range processes {
			s, ok, err := b.LoadSamples(p.ProcessNo)
			check(t, err)
			if !ok || (s.ScheduledNs != nil) != open {
				continue
			}
			path, _, _ := b.SampleFile(p.ProcessNo)
			if file := filepath.Join(dir, path); !slices.Contains(samples.Files, file) {
				samples.Files = append(samples.Files, file)
			}
			for i := range s.LatencyNs {
				row := []any{number(int64(p.ProcessNo)), number(int64(i)), number(s.StartNs[i]), number(s.LatencyNs[i])}
				if open {
					row = append(row, number(s.ScheduledNs[i]))
				}
				samples.Rows = append(samples.Rows, row)
			}
		}
		tables = append(tables, samples)
	}
	return tables
}

func analysisTables(t *testing.T, dir string) []table {
	t.Helper()
	var tables []table
	for _, name := range []string{"metrics", "summaries", "comparisons"} {
		tables = append(tables, fileTable(t, name, filepath.Join(dir, name+".parquet")))
	}
	return tables
}

// dictionary returns the columns of a table as columns.v1.json declares them.
func dictionary(t *testing.T, name string) []column {
	t.Helper()
	text, err := os.ReadFile("../columns.v1.json")
	check(t, err)
	var all struct {
		Tables []struct {
			Name    string
			Columns []column
		}
	}
	check(t, json.Unmarshal(text, &all))
	for _, table := range all.Tables {
		if table.Name == name {
			return table.Columns
		}
	}
	t.Fatalf("columns.v1.json has no table %s", name)
	return nil
}

// structTable turns records into rows by the names in their tags.
func structTable[R any](t *testing.T, name, dir string, rows []R) table {
	t.Helper()
	out := table{Name: name, Files: []string{filepath.Join(dir, "data", name+".parquet")}, Columns: dictionary(t, name)}
	typ := reflect.TypeFor[R]()
	fields := map[string]int{}
	for i := range typ.NumField() {
		tag, _, _ := strings.Cut(typ.Field(i).Tag.Get("parquet"), ",")
		fields[tag] = i
	}
	if len(fields) != len(out.Columns) {
		t.Errorf("%s: the dictionary has %d columns, the record %d", name, len(out.Columns), len(fields))
	}
	for i := range rows {
		v := reflect.ValueOf(&rows[i]).Elem()
		var row []any
		for _, c := range out.Columns {
			row = append(row, plain(v.Field(fields[c.Name])))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func plain(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return number(x.UnixMicro())
	case []byte:
		return hex.EncodeToString(x)
	case bool:
		return x
	}
	if v.CanInt() {
		return number(v.Int())
	}
	return v.String()
}

func number(v int64) string { return strconv.FormatInt(v, 10) }

// factorTypes are the types that columns.v1.json leaves to the plan.
var factorTypes = map[string]string{"f_file": "string", "f_payload_bytes": "int64", "f_load": "double", "f_tls": "boolean", "f_cadence": "string"}

// fileTable reads a table whose columns are the dictionary's and the factors'.
func fileTable(t *testing.T, name, path string) table {
	t.Helper()
	file, err := os.Open(path)
	check(t, err)
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	check(t, err)
	read, err := parquetfile.ReadTable(file, size)
	check(t, err)
	declared := map[string]column{}
	for _, c := range dictionary(t, name) {
		declared[c.Name] = c
	}
	out := table{Name: name, Files: []string{path}, Rows: make([][]any, read.Rows())}
	for _, c := range read.Columns {
		d, ok := declared[c.Name]
		if typ, factor := factorTypes[c.Name]; factor {
			d, ok = column{Name: c.Name, Type: typ, Unit: c.Unit}, true
		}
		if !ok {
			t.Errorf("%s: column %s is not in the dictionary", name, c.Name)
		}
		delete(declared, c.Name)
		out.Columns = append(out.Columns, d)
		for i := range out.Rows {
			var v any
			switch {
			case !c.Present(i):
			case c.Kind == parquetfile.Int64Column:
				v = number(c.Ints[i])
			case c.Kind == parquetfile.Float64Column:
				v = fmt.Sprintf("%016x", math.Float64bits(c.Floats[i]))
			case c.Kind == parquetfile.BoolColumn:
				v = c.Bools[i]
			default:
				v = c.Strings[i]
			}
			out.Rows[i] = append(out.Rows[i], v)
		}
	}
	delete(declared, "f_*")
	for missing := range declared {
		t.Errorf("%s: the dictionary's column %s is not in the file", name, missing)
	}
	return out
}

// The lines of schemas/README.md for pandas, as they stand there, give frames
// that carry every unit of the dictionary, through a copy and a selection.
func TestUnitsReachPandasByTheReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	check(t, err)
	_, rest, found := strings.Cut(string(text), "```python\n")
	code, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("schemas/README.md shows no Python")
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	study{seed: 1, cells: 1, rounds: 1, samples: 10}.write(t, dir)
	code = strings.ReplaceAll(code, "BUNDLE", dir) + `
import json
print(json.dumps({name: frame.copy()[list(frame.columns)].attrs["units"] for name, frame in {"processes": processes, "samples": samples}.items()}))
`
	script := filepath.Join(t.TempDir(), "units.py")
	check(t, os.WriteFile(script, []byte(code), 0o600))
	var units map[string]map[string]string
	check(t, json.Unmarshal([]byte(python(t, script)), &units))
	for _, name := range []string{"processes", "samples"} {
		want := map[string]string{}
		for _, c := range dictionary(t, name) {
			if c.Unit != "" {
				want[c.Name] = c.Unit
			}
		}
		if name == "samples" {
			delete(want, "scheduled_ns") // only open loops have it
		}
		if len(want) == 0 || !maps.Equal(units[name], want) {
			t.Errorf("%s: the frame says %v, the dictionary %v", name, units[name], want)
		}
	}
}
