package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pairbench/collect/proc"
	"pairbench/records"
)

// calibrationLimit bounds pbdriver's calibration, which takes a quarter of a
// second on an idle machine.
const calibrationLimit = 30 * time.Second

// calibrations are what pbdriver measures of itself, by their names in its
// output and in the host facts.
var calibrations = [...]struct{ key, unit string }{
	{"sample_record_ns", "ns"},
	{"sample_record_allocs", "count"},
	{"empty_request_callback_ns", "ns"},
	{"empty_request_coroutine_ns", "ns"},
}

// calibrateDriver has pbdriver measure what a sample and a request cost without
// any IO, where the measured processes of the study will run. A study without
// pbdriver has no such facts; a calibration that fails is an absent fact and
// stops nothing.
func (c *collection) calibrateDriver(ctx context.Context) []records.HostFact {
	suite := c.firstDriven()
	if suite < 0 {
		return nil
	}
	values, err := c.runCalibration(ctx, suite)
	var facts []records.HostFact
	for _, known := range calibrations {
		fact := records.HostFact{Name: "calibration." + known.key, Source: "pbdriver calibrate"}
		if v, ok := values[known.key]; ok && err == nil {
			text, unit := strconv.FormatFloat(v, 'f', 1, 64), known.unit
			fact.Value, fact.Unit = &text, &unit
		} else {
			reason := "pbdriver did not say"
			if err != nil {
				reason = oneLine([]byte(err.Error()))
			}
			fact.AbsentReason = &reason
		}
		facts = append(facts, fact)
	}
	return facts
}

// firstDriven returns the first suite whose driver is pbdriver, or -1.
func (c *collection) firstDriven() int {
	for i, pair := range c.progs {
		for _, p := range pair {
			if filepath.Base(p.path) == "pbdriver" {
				return i
			}
		}
	}
	return -1
}

func (c *collection) runCalibration(ctx context.Context, suite int) (values map[string]float64, err error) {
	path, err := c.findBuiltin("pbdriver")
	if err != nil {
		return nil, err
	}
	out := filepath.Join(c.work, "calibration")
	process, err := proc.Start(proc.Spec{
		Argv: []string{path, "calibrate"}, Dir: c.work, StdoutPath: out,
		CPUs: c.places[suite].Client, TimeLimit: calibrationLimit,
	})
	if err != nil {
		return nil, err
	}
	defer process.Close()
	if exit := process.Wait(ctx); exit.ExitCode == nil || *exit.ExitCode != 0 {
		return nil, errors.New(strings.TrimSpace("pbdriver calibrate failed " + string(exit.Cause)))
	}
	said, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(said, &values); err != nil {
		return nil, fmt.Errorf("output of pbdriver calibrate: %w", err)
	}
	return values, nil
}
