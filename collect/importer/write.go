package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pairbench/collect/importer/result"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
	"pairbench/records/digest"
)

// Write leaves the import as a sealed bundle at dir, with the original files
// inside: byte for byte, or marked as redacted. Nothing half-made is left when it
// fails or ctx ends; what a killed import left under that name it takes away
// first, because an import is never resumed.
func Write(ctx context.Context, fsys atomicfile.FS, dir string, in Import, originals []result.Source) (digest.SHA256, error) {
	w, err := bundle.Create(fsys, dir, in.Plan, in.Run, in.Cells)
	if errors.Is(err, bundle.ErrUnfinished) && dropKilled(fsys, dir) {
		w, err = bundle.Create(fsys, dir, in.Plan, in.Run, in.Cells)
	}
	if err != nil {
		return digest.SHA256{}, err
	}
	defer w.Close()
	identity, err := fill(ctx, w, in, originals)
	if err != nil {
		_ = os.RemoveAll(w.Dir()) // where it fails, the cause is that of err
		return digest.SHA256{}, err
	}
	return identity, nil
}

// dropKilled takes away an unfinished import that nobody is writing, and reports
// whether there was one. A collection is left for its own command to resume.
func dropKilled(fsys atomicfile.FS, dir string) bool {
	w, err := bundle.Resume(fsys, dir)
	if err != nil {
		return false
	}
	defer w.Close()
	return w.Run().Origin == origin && os.RemoveAll(w.Dir()) == nil
}

func fill(ctx context.Context, w *bundle.Writer, in Import, originals []result.Source) (digest.SHA256, error) {
	var inputs []records.Input
	for i, src := range originals {
		name := fmt.Sprintf("original-%02d-%s", i+1, safeName(src.Name))
		if err := w.AddFile(name, bytes.NewReader(src.Data)); err != nil {
			return digest.SHA256{}, err
		}
		sum, size := digest.Sum(src.Data).String(), int64(len(src.Data))
		input := records.Input{Kind: "result", Name: name, Bytes: &size, SHA256: &sum, ResolvedBy: "import"}
		if src.Redacted > 0 {
			// The hash of the file as it was is not kept: with it a short secret
			// could be found by trying.
			gap := fmt.Sprintf("secrets taken out: %d; the rest is the file byte for byte", src.Redacted)
			input.Gap = &gap
		}
		inputs = append(inputs, input)
	}
	if err := w.SetInputs(inputs); err != nil {
		return digest.SHA256{}, err
	}
	for _, p := range in.Processes {
		if err := ctx.Err(); err != nil {
			return digest.SHA256{}, err
		}
		if err := w.Append(p, in.Samples[p.ProcessNo]); err != nil {
			return digest.SHA256{}, err
		}
	}
	return w.Seal(in.Run)
}

// safeName keeps the letters of a file's name that a bundle may hold.
func safeName(path string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(path))
	if len(name) > 80 {
		name = name[len(name)-80:]
	}
	return strings.TrimLeft(name, ".")
}
