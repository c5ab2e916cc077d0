package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pairbench/records/bag"
	"pairbench/records/bundle"
)

var flips = flag.Int("flips", 15, "how many bits of each file TestEveryDamage flips")

// TestEveryDamageIsNamedAndNothingOfItIsAnalysed damages every file of a small
// bundle in every way: verify names the file and the kind, analyze refuses by
// the hashes and leaves nothing.
func TestEveryDamageIsNamedAndNothingOfItIsAnalysed(t *testing.T) {
	const seed = 1
	original := smallBundle(t)
	random := rand.New(rand.NewPCG(seed, 0))
	files := map[string][]byte{}
	var names []string
	for _, path := range filesBelow(t, original) {
		name, err := filepath.Rel(original, path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
		files[filepath.ToSlash(name)] = []byte(readFile(t, path))
	}
	work := filepath.Join(t.TempDir(), "bundle")
	if err := os.CopyFS(work, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	trials := 0
	// try changes one file (nil: deletes it), looks, and puts everything back.
	try := func(what, name string, kinds string, changed ...map[string][]byte) {
		t.Helper()
		trials++
		for _, set := range changed {
			for name, content := range set {
				put(t, filepath.Join(work, name), content)
			}
		}
		refused(t, what, work, name, strings.Fields(kinds)...)
		for _, set := range changed {
			for name := range set {
				put(t, filepath.Join(work, name), files[name])
			}
		}
	}
	for i, name := range names {
		content := files[name]
		for range min(*flips, 8*len(content)) {
			at := random.IntN(len(content))
			flipped := bytes.Clone(content)
			flipped[at] ^= 1 << random.IntN(8)
			try(fmt.Sprintf("bit at %d of %s", at, name), name, "changed malformed", map[string][]byte{name: flipped})
		}
		for _, size := range []int{0, 1, len(content) / 2, len(content) - 1} {
			try(fmt.Sprintf("%s cut to %d", name, size), name, "changed malformed", map[string][]byte{name: content[:size]})
		}
		try("grown "+name, name, "changed malformed", map[string][]byte{name: append(bytes.Clone(content), 0)})
		try("without "+name, name, "missing", map[string][]byte{name: nil})
		try("beside "+name, name+".old", "extra", map[string][]byte{name + ".old": []byte("x")})
		if other := names[(i+1)%len(names)]; !bytes.Equal(files[other], content) {
			at := name
			if other == bag.ManifestFile {
				at = other // and by what it lists nothing else is known
			}
			try("swapped "+name+" and "+other, at, "changed malformed", map[string][]byte{name: files[other], other: content})
		}
	}
	manifest := strings.SplitAfter(string(files[bag.ManifestFile]), "\n")
	for i, line := range manifest[:len(manifest)-1] {
		without := strings.Join(append(append([]string{}, manifest[:i]...), manifest[i+1:]...), "")
		name := strings.TrimSpace(line[66:])
		edited := strings.Replace(string(files[bag.ManifestFile]), line, strings.Repeat("0", 64)+line[64:], 1)
		try("manifest without "+name, bag.ManifestFile, "changed", map[string][]byte{bag.ManifestFile: []byte(without)})
		try("manifest with another hash of "+name, bag.ManifestFile, "changed", map[string][]byte{bag.ManifestFile: []byte(edited)})
	}
	t.Logf("seed %d: %d damaged bundles of %d files, all found and refused", seed, trials, len(names))

	for what, kind := range map[string]string{
		"0": "schema_version", "-1": "schema_version", "2": "schema_version", "999": "schema_version", "null": "schema_version",
		`"1"`: "malformed", "1.5": "malformed", "1e99": "malformed",
	} {
		dir := filepath.Join(t.TempDir(), "bundle")
		if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
			t.Fatal(err)
		}
		run := strings.Replace(string(files[bundle.RunFile]), `"schema_version": 1,`, `"schema_version": `+what+`,`, 1)
		if run == string(files[bundle.RunFile]) {
			t.Fatal("run.json has no schema version to change")
		}
		writeFile(t, filepath.Join(dir, bundle.RunFile), run)
		reseal(t, dir)
		refused(t, "schema version "+what, dir, bundle.RunFile, kind)
	}
}

// put writes a file, or removes it where there is no content.
func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if content == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	writeFile(t, path, string(content))
}

// refused expects verify to name the file with one of the kinds, and analyze to
// refuse the bundle without a word of a decoder.
func refused(t *testing.T, what, dir, name string, kinds ...string) {
	t.Helper()
	var out, errs strings.Builder
	code := run(context.Background(), []string{"pairbench", "verify", dir}, streams{&out, &errs})
	named := false
	if name == "tagmanifest-sha256.txt" {
		// Nothing vouches for it but the identity: what it lists no longer fits it.
		for _, tag := range []string{"bag-info.txt", "bagit.txt", bag.ManifestFile} {
			named = named || strings.Contains("\n"+out.String(), "\n"+tag+": changed: ")
		}
	}
	for _, kind := range kinds {
		named = named || strings.Contains("\n"+out.String(), "\n"+name+": "+kind+": ")
	}
	if code != exitIntegrity || !named {
		t.Errorf("%s: checker is broken: verify exits with %d and says\n%s%s", what, code, out.String(), errs.String())
	}
	errs.Reset()
	analysis := filepath.Join(filepath.Dir(dir), "analysis")
	code = run(context.Background(), []string{"pairbench", "analyze", "--out", analysis, dir}, streams{&out, &errs})
	if code != exitIntegrity || strings.Contains(errs.String(), "undecodable") {
		t.Errorf("%s: analyze exits with %d and says\n%s", what, code, errs.String())
	}
	if left, _ := filepath.Glob(analysis + "*"); left != nil {
		t.Fatalf("%s: analyze left %v", what, left)
	}
}
