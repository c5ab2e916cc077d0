package bag

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"pairbench/records/atomicfile"
	"pairbench/records/digest"
)

// InfoField is one line of bag-info.txt.
type InfoField struct{ Label, Value string }

// Payload sums up the files under data/ for the Payload-Oxum line.
type Payload struct {
	Entries []Entry
	Bytes   int64
}

// Write writes the four files that turn dir into a bag of payload, each one
// atomically and tagmanifest-sha256.txt last, and returns the bag's identity.
// The payload is on disk already; its hashes are taken as given. While
// tagmanifest-sha256.txt is not there, dir is no bag.
func Write(fsys atomicfile.FS, dir string, payload Payload, info []InfoField) (digest.SHA256, error) {
	for _, e := range payload.Entries {
		if !strings.HasPrefix(e.Path, PayloadDir) {
			return digest.SHA256{}, fmt.Errorf("write bag %s: payload %s is not under %s", dir, e.Path, PayloadDir)
		}
	}
	manifest, err := EncodeManifest(payload.Entries)
	if err != nil {
		return digest.SHA256{}, fmt.Errorf("write bag %s: %w", dir, err)
	}
	infoText, err := encodeInfo(append([]InfoField{{
		Label: "Payload-Oxum", Value: fmt.Sprintf("%d.%d", payload.Bytes, len(payload.Entries)),
	}}, info...))
	if err != nil {
		return digest.SHA256{}, fmt.Errorf("write bag %s: %w", dir, err)
	}
	files := []struct {
		name    string
		content []byte
	}{
		{DeclarationFile, []byte(declaration)},
		{InfoFile, infoText},
		{ManifestFile, manifest},
	}
	var tags []Entry
	for _, f := range files {
		if err := atomicfile.WriteBytes(fsys, filepath.Join(dir, f.name), 0o644, f.content); err != nil {
			return digest.SHA256{}, err
		}
		tags = append(tags, Entry{Path: f.name, SHA256: digest.Sum(f.content)})
	}
	tagManifest, err := EncodeManifest(tags)
	if err != nil {
		return digest.SHA256{}, fmt.Errorf("write bag %s: %w", dir, err)
	}
	if err := atomicfile.WriteBytes(fsys, filepath.Join(dir, TagManifestFile), 0o644, tagManifest); err != nil {
		return digest.SHA256{}, err
	}
	return digest.Sum(tagManifest), nil
}

func encodeInfo(fields []InfoField) ([]byte, error) {
	var out bytes.Buffer
	for _, f := range fields {
		if f.Label == "" || strings.ContainsAny(f.Label, ":\r\n") || strings.ContainsAny(f.Value, "\r\n") {
			return nil, fmt.Errorf("bag-info field %q: no colon in the label, no line break in either", f.Label)
		}
		fmt.Fprintf(&out, "%s: %s\n", f.Label, f.Value)
	}
	return out.Bytes(), nil
}

// DecodeInfo reads bag-info.txt. Continued lines, which this package never
// writes, are joined to the value before them.
func DecodeInfo(text []byte) ([]InfoField, error) {
	var fields []InfoField
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if (line[0] == ' ' || line[0] == '\t') && len(fields) > 0 {
			fields[len(fields)-1].Value += " " + strings.TrimSpace(line)
			continue
		}
		label, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%s line %d: want LABEL: VALUE", InfoFile, n)
		}
		fields = append(fields, InfoField{Label: strings.TrimSpace(label), Value: strings.TrimSpace(value)})
	}
	return fields, nil
}
