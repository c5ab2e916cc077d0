package main

import (
	"fmt"
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

// countVariable says how many shards there are where the scheduler does not, or
// where it runs only some of them again.
const countVariable = "PAIRBENCH_SHARD_COUNT"

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
	number := func(name string) int {
		n, err := strconv.Atoi(getenv(name))
		if err != nil {
			return -1
		}
		return n
	}
	index, count := -1, number(countVariable)
	switch {
	case getenv("JOB_COMPLETION_INDEX") != "":
		index = number("JOB_COMPLETION_INDEX") + 1
	case getenv("SLURM_ARRAY_TASK_ID") != "" && count >= 0:
		index = number("SLURM_ARRAY_TASK_ID")
	case getenv("SLURM_ARRAY_TASK_ID") != "":
		count = number("SLURM_ARRAY_TASK_COUNT")
		first, step := number("SLURM_ARRAY_TASK_MIN"), max(1, number("SLURM_ARRAY_TASK_STEP"))
		if at := number("SLURM_ARRAY_TASK_ID") - first; first >= 0 && at >= 0 && at%step == 0 {
			index = at/step + 1
		}
	default:
		return nil, usagef("--shard auto: neither JOB_COMPLETION_INDEX (Kubernetes) nor SLURM_ARRAY_TASK_ID (Slurm) is set")
	}
	if index < 1 || count < 1 || index > count {
		var found []string
		for _, name := range []string{"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP", countVariable} {
			if value := getenv(name); value != "" {
				found = append(found, fmt.Sprintf("%s=%q", name, value))
			}
		}
		return nil, usagef("--shard auto: found %s, expected an index and the number of shards, which %s gives too", strings.Join(found, ", "), countVariable)
	}
	return &records.RunShard{Index: index, Count: count}, nil
}
