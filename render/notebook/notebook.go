package notebook

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"pairbench/analyze/report"
)

//go:embed analysis.py
var analysis string

// Options say where the notebook finds its input. Paths are used as they are;
// relative ones start at the notebook's directory.
type Options struct {
	// Report is the path of report.json.
	Report string
	// Bundles are the directories of the bundles, in any order: the notebook
	// tells them apart by identity.
	Bundles []string
}

type cell struct {
	ID       string         `json:"id"`
	Type     string         `json:"cell_type"`
	Metadata map[string]any `json:"metadata"`
	Source   []string       `json:"source"`
	// Outputs and ExecutionCount are there in code cells only.
	Outputs        *[]any           `json:"outputs,omitempty"`
	ExecutionCount *json.RawMessage `json:"execution_count,omitempty"`
}

type book struct {
	Cells    []cell         `json:"cells"`
	Metadata map[string]any `json:"metadata"`
	Major    int            `json:"nbformat"`
	Minor    int            `json:"nbformat_minor"`
}

// Write writes the notebook for a report: the same input gives the same bytes.
func Write(w io.Writer, r *report.Report, opt Options) error {
	bundles := opt.Bundles
	if bundles == nil {
		bundles = []string{}
	}
	paths, err := json.Marshal(bundles) // a JSON list of strings is a Python list
	if err != nil {
		return fmt.Errorf("write notebook: %w", err)
	}
	file, err := json.Marshal(opt.Report)
	if err != nil {
		return fmt.Errorf("write notebook: %w", err)
	}
	b := book{
		Metadata: map[string]any{
			"kernelspec":    map[string]string{"display_name": "Python 3", "language": "python", "name": "python3"},
			"language_info": map[string]string{"name": "python"},
		},
		Major: 4, Minor: 5,
	}
	b.add("code", fmt.Sprintf("# Where the input lies: change these two when it moves.\nREPORT = %s\nBUNDLES = %s\n", file, paths))
	for _, part := range strings.Split(analysis, "\n# %%")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		if strings.Contains(head, "[markdown]") {
			lines := strings.Split(body, "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(strings.TrimPrefix(lines[i], "#"), " ")
			}
			b.add("markdown", strings.Join(lines, "\n"))
			continue
		}
		b.add("code", body)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(b); err != nil {
		return fmt.Errorf("write notebook: %w", err)
	}
	return nil
}

func (b *book) add(kind, source string) {
	c := cell{ID: fmt.Sprintf("cell-%d", len(b.Cells)+1), Type: kind, Metadata: map[string]any{}, Source: strings.SplitAfter(strings.Trim(source, "\n"), "\n")}
	if kind == "code" {
		null := json.RawMessage("null")
		c.Outputs, c.ExecutionCount = &[]any{}, &null
	}
	b.Cells = append(b.Cells, c)
}
