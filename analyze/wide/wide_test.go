package wide

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pairbench/records/parquetfile"
)

func TestByProcess(t *testing.T) {
	long := parquetfile.Table{
		Columns: []parquetfile.Column{
			{Name: "suite", Kind: parquetfile.StringColumn, Strings: []string{"s", "s", "s", "s"}},
			{Name: "f_size", Kind: parquetfile.Int64Column, Ints: []int64{64, 64, 0, 64}, Valid: []bool{true, true, false, true}},
			{Name: "f_rate", Kind: parquetfile.Float64Column, Floats: []float64{.5, .5, .5, .5}},
			{Name: "in_median", Kind: parquetfile.BoolColumn, Bools: []bool{true, true, false, true}},
			{Name: "bundle", Kind: parquetfile.StringColumn, Strings: []string{"b", "b", "b", "c"}},
			{Name: "process_no", Kind: parquetfile.Int64Column, Ints: []int64{1, 1, 2, 1}},
			{Name: "metric", Kind: parquetfile.StringColumn, Strings: []string{"latency_p50", "throughput", "throughput", "latency_p50"}},
			{Name: "unit", Kind: parquetfile.StringColumn, Strings: []string{"ns", "per_sec", "per_sec", "ns"}},
			{Name: "value", Kind: parquetfile.Float64Column, Floats: []float64{7, 1.5, 2.5, 8}, Valid: []bool{true, true, true, true}},
			{Name: "value_exact", Kind: parquetfile.StringColumn, Strings: []string{"7", "3/2", "5/2", "8"}, Valid: []bool{true, true, true, true}},
		},
		Metadata: map[string]string{"study": "x"},
	}
	got, err := ByProcess(long)
	if err != nil {
		t.Fatal(err)
	}
	want := parquetfile.Table{
		Columns: []parquetfile.Column{
			{Name: "suite", Kind: parquetfile.StringColumn, Strings: []string{"s", "s", "s"}},
			{Name: "f_size", Kind: parquetfile.Int64Column, Ints: []int64{64, 0, 64}, Valid: []bool{true, false, true}},
			{Name: "f_rate", Kind: parquetfile.Float64Column, Floats: []float64{.5, .5, .5}},
			{Name: "in_median", Kind: parquetfile.BoolColumn, Bools: []bool{true, false, true}},
			{Name: "bundle", Kind: parquetfile.StringColumn, Strings: []string{"b", "b", "c"}},
			{Name: "process_no", Kind: parquetfile.Int64Column, Ints: []int64{1, 2, 1}},
			{Name: "throughput_per_sec", Unit: "per_sec", Kind: parquetfile.Float64Column, Floats: []float64{1.5, 2.5, 0}, Valid: []bool{true, true, false}},
			{Name: "latency_p50_ns", Unit: "ns", Kind: parquetfile.Float64Column, Floats: []float64{7, 0, 8}, Valid: []bool{true, false, true}},
		},
		Metadata: map[string]string{"study": "x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, c := range long.Columns {
		if c.Name != "bundle" && c.Name != "process_no" && c.Name != "metric" && c.Name != "value" {
			continue
		}
		damaged := parquetfile.Table{Columns: append(append([]parquetfile.Column{}, long.Columns[:i]...), long.Columns[i+1:]...)}
		if _, err := ByProcess(damaged); err == nil {
			t.Errorf("a table without %s is taken", c.Name)
		}
	}
}
