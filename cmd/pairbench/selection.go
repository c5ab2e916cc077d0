package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"pairbench/collect/plan"
	"pairbench/records"
)

// selectionFlags narrow and scale a plan, the same in run, plan and collect.
func selectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "suite", Usage: "only the suite `ID` (may be repeated)"},
		&cli.StringFlag{Name: "cells", Usage: "only the cells whose id matches `GLOB`"},
		&cli.IntFlag{Name: "rounds", Usage: "`N` rounds instead of the plan's"},
		&cli.Float64Flag{Name: "scale", Usage: "multiply durations and counts by `F`"},
		&cli.StringSliceFlag{Name: "service", Usage: "`NAME=managed|embedded|ADDRESS` instead of the plan's service (may be repeated)"},
		&cli.Int64Flag{Name: "seed", Usage: "`N` as the seed of the order and of the payloads"},
		&cli.StringFlag{Name: "shard", Usage: "only part `i/N` of the cells, or auto: from the job index of Kubernetes or Slurm"},
	}
}

func selection(c *cli.Context) (plan.Selection, error) {
	s := plan.Selection{Suites: c.StringSlice("suite"), Cells: c.String("cells"), Rounds: c.Int("rounds"), Scale: c.Float64("scale")}
	if c.IsSet("rounds") && s.Rounds < 1 {
		return s, usagef("%s --rounds: found %d, expected 1 or more", c.Command.Name, s.Rounds)
	}
	if c.IsSet("scale") && !(s.Scale > 0 && s.Scale <= 1e6) {
		return s, usagef("%s --scale: found %v, expected a number above 0, at most 1000000", c.Command.Name, s.Scale)
	}
	if c.IsSet("seed") {
		seed := c.Int64("seed")
		s.Seed = &seed
	}
	for _, word := range c.StringSlice("service") {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" || value == "" {
			return s, usagef("%s --service: found %q, expected NAME=managed, NAME=embedded or NAME=ADDRESS", c.Command.Name, word)
		}
		if s.Services == nil {
			s.Services = map[string]string{}
		}
		s.Services[name] = value
	}
	if c.IsSet("shard") {
		shard, err := parseShard(c.String("shard"), os.Getenv)
		if err != nil {
			return s, err
		}
		s.Shard = shard
	}
	return s, nil
}

// shardVariables are where schedulers say which part of an array job this is:
// the variable of the index, that of the count, and the index of the first.
var shardVariables = []struct{ index, count, first string }{
	{"JOB_COMPLETION_INDEX", "PAIRBENCH_SHARD_COUNT", ""},
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
}

// parseShard reads i/N, with i from 1 to N, or takes both from the environment
// of a scheduler.
func parseShard(word string, getenv func(string) string) (*records.RunShard, error) {
	if word != "auto" {
		left, right, ok := strings.Cut(word, "/")
		index, err1 := strconv.Atoi(left)
		count, err2 := strconv.Atoi(right)
		if !ok || err1 != nil || err2 != nil || count < 1 || index < 1 || index > count {
			return nil, usagef("--shard: found %q, expected i/N with i from 1 to N, or auto", word)
		}
		return &records.RunShard{Index: index, Count: count}, nil
	}
	for _, v := range shardVariables {
		if getenv(v.index) == "" {
			continue
		}
		index, err1 := strconv.Atoi(getenv(v.index))
		count, err2 := strconv.Atoi(getenv(v.count))
		first := 0
		var err3 error
		if v.first != "" {
			first, err3 = strconv.Atoi(getenv(v.first))
		}
		if err1 != nil || err2 != nil || err3 != nil || count < 1 || index < first || index-first >= count {
			return nil, usagef("--shard auto: found %s=%q and %s=%q, expected an index and the number of shards", v.index, getenv(v.index), v.count, getenv(v.count))
		}
		return &records.RunShard{Index: index - first + 1, Count: count}, nil
	}
	return nil, usagef("--shard auto: neither JOB_COMPLETION_INDEX (Kubernetes) nor SLURM_ARRAY_TASK_ID (Slurm) is set")
}
