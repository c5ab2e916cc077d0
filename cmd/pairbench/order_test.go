package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsWorkBeforeAndAfterWords(t *testing.T) {
	tests := []struct{ in, want string }{
		{"pairbench plan quick --json", "pairbench plan --json -- quick"},
		{"pairbench plan --json quick", "pairbench plan --json -- quick"},
		{"pairbench plan quick --rounds 2 --json", "pairbench plan --rounds 2 --json -- quick"},
		{"pairbench plan quick --rounds=2 extra", "pairbench plan --rounds=2 -- quick extra"},
		{"pairbench plan --suite a quick --suite b", "pairbench plan --suite a --suite b -- quick"},
		{"pairbench plan -- --json", "pairbench plan -- --json"},
		{"pairbench plan - --json", "pairbench plan --json -- -"},
		{"pairbench plan quick --unknown x", "pairbench plan --unknown -- quick x"},
		{"pairbench plan quick --rounds", "pairbench plan --rounds -- quick"},
		{"pairbench nonsense quick --json", "pairbench nonsense quick --json"},
		{"pairbench --version", "pairbench --version"},
		{"pairbench", "pairbench"},
	}
	for _, test := range tests {
		got := strings.Join(inOrder(newApp(streams{}), strings.Fields(test.in)), " ")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("inOrder(%q) (-want +got):\n%s", test.in, diff)
		}
	}
}

func TestShardFromFlagOrScheduler(t *testing.T) {
	tests := []struct {
		word string
		env  map[string]string
		want string // index/count, or a part of the error
	}{
		{"1/3", nil, "1/3"},
		{"3/3", nil, "3/3"},
		{"0/3", nil, "expected i/N"},
		{"4/3", nil, "expected i/N"},
		{"1", nil, "expected i/N"},
		{"a/b", nil, "expected i/N"},
		{"auto", map[string]string{"JOB_COMPLETION_INDEX": "0", "PAIRBENCH_SHARD_COUNT": "4"}, "1/4"},
		{"auto", map[string]string{"JOB_COMPLETION_INDEX": "3", "PAIRBENCH_SHARD_COUNT": "4"}, "4/4"},
		{"auto", map[string]string{"JOB_COMPLETION_INDEX": "4", "PAIRBENCH_SHARD_COUNT": "4"}, "expected an index"},
		{"auto", map[string]string{"JOB_COMPLETION_INDEX": "0"}, "expected an index"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "5"}, "1/3"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "7", "SLURM_ARRAY_TASK_STEP": "2"}, "4/4"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "7"}, "expected an index"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "1", "SLURM_ARRAY_TASK_MIN": "3", "PAIRBENCH_SHARD_COUNT": "4"}, "3/4"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "0", "PAIRBENCH_SHARD_COUNT": "4"}, "expected an index"},
		{"auto", map[string]string{"SLURM_ARRAY_TASK_ID": "x", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "1"}, "expected an index"},
		{"auto", nil, "neither"},
	}
	for _, test := range tests {
		shard, err := parseShard(test.word, func(name string) string { return test.env[name] })
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprintf("%d/%d", shard.Index, shard.Count)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("parseShard(%q, %v) = %q, want %q", test.word, test.env, got, test.want)
		}
	}
}
