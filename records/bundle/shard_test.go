package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bag"
	"pairbench/records/digest"
)

// TestShardsAreABagGroup reads the group fields of BagIt back: shards of one
// plan share the group, and a bundle that is no shard has none.
func TestShardsAreABagGroup(t *testing.T) {
	group := "demo " + digest.Sum([]byte(studyPlan)).String()
	for _, c := range []struct {
		name  string
		shard *records.RunShard
		want  map[string]string
	}{
		{"whole", nil, map[string]string{}},
		{"first of two", &records.RunShard{Index: 1, Count: 2}, map[string]string{"Bag-Group-Identifier": group, "Bag-Count": "1 of 2"}},
		{"second of two", &records.RunShard{Index: 2, Count: 2}, map[string]string{"Bag-Group-Identifier": group, "Bag-Count": "2 of 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "bundle")
			run := studyRun(1)
			run.Shard = c.shard
			w, err := Create(atomicfile.OS{}, dir, []byte(studyPlan), run, studyCells())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Seal(run); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, bag.InfoFile))
			if err != nil {
				t.Fatal(err)
			}
			fields, err := bag.DecodeInfo(text)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range fields {
				if f.Label == "Bag-Group-Identifier" || f.Label == "Bag-Count" {
					got[f.Label] = f.Value
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
