package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"pairbench/records/atomicfile"
)

// printJSON writes v for programs: indented, and with < and > as they are.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeResult writes what fill produces to the file at path, whole or not at
// all, or to out when path is empty.
func writeResult(command, path string, out io.Writer, fill func(io.Writer) error) error {
	if path == "" {
		return fill(out)
	}
	if err := atomicfile.Write(atomicfile.OS{}, filepath.Clean(path), 0o644, fill); err != nil {
		return fmt.Errorf("%s --out %s: %w", command, visible(path), err)
	}
	return nil
}
