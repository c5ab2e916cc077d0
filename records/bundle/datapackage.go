package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pairbench/records"
	"pairbench/records/bag"
	"pairbench/records/parquetfile"
)

// dataPackage is data/datapackage.json, a Frictionless data package whose
// resource paths are relative to the file.
type dataPackage struct {
	Profile   string     `json:"profile"`
	Name      string     `json:"name"`
	Version   string     `json:"version"`
	Created   time.Time  `json:"created,omitzero"`
	Resources []resource `json:"resources"`
}

// resource is one table or file. The samples files of one layout are one table
// in many files: Paths and Hashes then hold one element for each.
type resource struct {
	Name   string       `json:"name"`
	Path   any          `json:"path"` // a string, or a list of them
	Format string       `json:"format"`
	Bytes  int64        `json:"bytes"`
	Hash   string       `json:"hash,omitempty"`
	Hashes []string     `json:"hashes,omitempty"`
	Schema *tableSchema `json:"schema,omitempty"`
}

type tableSchema struct {
	Fields     []field  `json:"fields"`
	PrimaryKey []string `json:"primaryKey,omitempty"`
}

type field struct {
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	Unit        string       `json:"unit,omitempty"`
	Constraints *constraints `json:"constraints,omitempty"`
}

type constraints struct {
	Required bool `json:"required"`
}

// describe returns data/datapackage.json for the files under dir that entries
// list.
func describe(dir string, run records.Run, entries []bag.Entry) ([]byte, error) {
	p := dataPackage{
		Profile: "data-package", Name: packageName(run.Study), Version: fmt.Sprint(records.SchemaVersion),
		Created: run.EndedAt.UTC().Truncate(time.Second),
	}
	byColumns := make(map[int]*sampleResource)
	for _, e := range slices.SortedFunc(slices.Values(entries), comparePaths) {
		r, err := describeFile(filepath.Join(dir, filepath.FromSlash(e.Path)), e)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", e.Path, err)
		}
		if !isSample(e.Path) {
			p.Resources = append(p.Resources, r)
			continue
		}
		columns := len(r.Schema.Fields)
		if byColumns[columns] == nil {
			byColumns[columns] = &sampleResource{}
		}
		byColumns[columns].add(r)
	}
	for _, columns := range slices.Sorted(maps.Keys(byColumns)) {
		p.Resources = append(p.Resources, byColumns[columns].resource(columns))
	}
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

func comparePaths(a, b bag.Entry) int { return strings.Compare(a.Path, b.Path) }

// sampleResource gathers the samples files that have the same columns.
type sampleResource struct {
	whole resource
	paths []string
}

func (s *sampleResource) add(file resource) {
	s.whole.Schema, s.whole.Format = file.Schema, file.Format
	s.whole.Bytes += file.Bytes
	s.whole.Hashes = append(s.whole.Hashes, file.Hash)
	s.paths = append(s.paths, file.Path.(string))
}

func (s *sampleResource) resource(columns int) resource {
	s.whole.Name = fmt.Sprintf("samples-%d-columns", columns)
	s.whole.Path = s.paths
	return s.whole
}

func describeFile(path string, e bag.Entry) (resource, error) {
	f, err := os.Open(path)
	if err != nil {
		return resource{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return resource{}, err
	}
	relative := strings.TrimPrefix(e.Path, bag.PayloadDir)
	extension := filepath.Ext(relative)
	r := resource{
		Name:   strings.ToLower(strings.TrimSuffix(relative, extension)),
		Path:   relative,
		Format: strings.TrimPrefix(extension, "."),
		Bytes:  info.Size(),
		Hash:   hashText(e),
	}
	if extension != ".parquet" {
		return r, nil
	}
	columns, _, err := parquetfile.Describe(f, info.Size())
	if err != nil {
		return resource{}, err
	}
	schema := &tableSchema{PrimaryKey: primaryKey(relative)}
	for _, c := range columns {
		out := field{Name: c.Name, Type: c.Type, Unit: c.Unit}
		if out.Unit == "" {
			out.Unit = unitInName(c.Name)
		}
		if !c.Nullable {
			out.Constraints = &constraints{Required: true}
		}
		schema.Fields = append(schema.Fields, out)
	}
	r.Schema = schema
	return r, nil
}

func hashText(e bag.Entry) string { return "sha256:" + e.SHA256.String() }

// packageHashes holds datapackage.json against the manifest.
func (v *verification) packageHashes(b *Bundle) {
	text, err := b.hashedFile(PackageFile, maxPackageBytes)
	if err != nil {
		v.addError(err)
		return
	}
	var p struct {
		Resources []struct {
			Path   json.RawMessage `json:"path"`
			Hash   string          `json:"hash"`
			Hashes []string        `json:"hashes"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		v.add(PackageFile, bag.KindMalformed, "%v", err)
		return
	}
	said := make(map[string]string)
	for _, r := range p.Resources {
		var path string
		var paths []string
		if json.Unmarshal(r.Path, &path) == nil {
			said[bag.PayloadDir+path] = r.Hash
		} else if json.Unmarshal(r.Path, &paths) == nil && len(paths) == len(r.Hashes) {
			for i, path := range paths {
				said[bag.PayloadDir+path] = r.Hashes[i]
			}
		}
	}
	for path, sum := range b.payload {
		if want := hashText(bag.Entry{SHA256: sum}); path != PackageFile && said[path] != want {
			v.add(PackageFile, KindContradiction, "%s has hash %q, the manifest says %q", path, said[path], want)
		}
	}
}

func primaryKey(path string) []string {
	switch {
	case strings.HasPrefix(path, "samples/"):
		return []string{"process_no", "seq"}
	case path == "processes.parquet":
		return []string{"process_no"}
	case path == "cells.parquet":
		return []string{"suite", "cell_id"}
	case path == "host.parquet":
		return []string{"name"}
	default:
		return nil
	}
}

// unitInName reads the unit that stands in a column's name.
func unitInName(name string) string {
	for _, suffix := range []struct{ end, unit string }{
		{"_ns", "ns"}, {"_bytes", "bytes"}, {"_per_sec", "1/s"}, {"_pct", "%"}, {"_khz", "kHz"}, {"_milli", "1/1000"},
	} {
		if strings.HasSuffix(name, suffix.end) {
			return suffix.unit
		}
	}
	return ""
}

// packageName turns a study's id into a name that Frictionless allows.
func packageName(study string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '-'
		}
	}, study)
	if name == "" {
		return "bundle"
	}
	return name
}
