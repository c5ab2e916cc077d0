package engine

import (
	"errors"
	"fmt"
	"math"
	"time"

	"pairbench/collect/driver"
)

// The arms of the built-in workloads, as plans name them.
const (
	ArmCallback  = "callback"
	ArmCoroutine = "coroutine"
	ArmGoroutine = "goroutine"
)

// Arrival says when an open loop wants its requests to start.
type Arrival string

// The arrivals; the zero value is a closed loop.
const (
	ArrivalClosed   Arrival = ""
	ArrivalConstant Arrival = "constant"
	ArrivalPoisson  Arrival = "poisson"
)

// Config is what the engine takes from a job.
type Config struct {
	Arm         string
	Connections int
	// Outstanding is the number of requests in flight in a closed loop, and the
	// most in flight in an open one.
	Outstanding int
	// Tick is the period at which the owner polls; 0 is continuous polling.
	Tick time.Duration
	// Inline lets the owner do the IO, and Wait lets it sleep in epoll until
	// there is some, where it would otherwise poll and yield its processor.
	Inline  bool
	Wait    bool
	Arrival Arrival
	// RatePerSec is the mean rate of samples of an open loop.
	RatePerSec float64
	// PerSample is the number of operations that one sample stands for.
	PerSample int64
	Warmup    driver.Amount
	Measure   driver.Amount
	Seed      int64
	// RequestLimit bounds one request; what is in flight when nothing has come
	// back for so long is incomplete and ends the run.
	RequestLimit time.Duration
}

// ParseConfig reads and checks the factors and settings that the engine knows:
// connections, outstanding, cadence, io, idle, arrival, rate_per_sec and
// request_limit_ms. The arm is the setting "arm" or else the job's arm name, so
// that two arms of a plan can share a model under names of their own.
func ParseConfig(job driver.Job) (Config, error) {
	c := Config{PerSample: job.PerSample(), Warmup: job.Warmup, Measure: job.Measure, Seed: job.Seed}
	var err error
	if c.Arm, err = Arm(job); err != nil {
		return Config{}, err
	}
	connections, err := job.IntRange("connections", 1, 1, 4096)
	if err != nil {
		return Config{}, err
	}
	outstanding, err := job.IntRange("outstanding", connections, 1, 1<<16)
	if err != nil {
		return Config{}, err
	}
	c.Connections, c.Outstanding = int(connections), int(outstanding)
	cadence, err := job.Text("cadence")
	if err != nil {
		return Config{}, err
	}
	if cadence != "" && cadence != "continuous" {
		c.Tick, err = time.ParseDuration(cadence)
		if err != nil || c.Tick < 10*time.Microsecond || c.Tick > time.Minute {
			return Config{}, fmt.Errorf("job: cadence is %q, expected continuous or a period such as 1ms", cadence)
		}
	}
	io, err := job.Text("io", "separate", "inline")
	if err != nil {
		return Config{}, err
	}
	c.Inline = io == "inline"
	idle, err := job.Text("idle", "yield", "wait")
	if err != nil {
		return Config{}, err
	}
	if c.Wait = idle == "wait"; c.Wait && !c.Inline {
		return Config{}, errors.New("job: idle is wait, which needs io inline: a separate IO thread would have to wake the owner")
	}
	arrival, err := job.Text("arrival", "closed", string(ArrivalConstant), string(ArrivalPoisson))
	if err != nil {
		return Config{}, err
	}
	if c.RatePerSec, err = job.Float("rate_per_sec", 0); err != nil {
		return Config{}, err
	}
	if arrival != "closed" {
		c.Arrival = Arrival(arrival)
		if !(c.RatePerSec > 0 && c.RatePerSec <= 1e7) || math.IsNaN(c.RatePerSec) {
			return Config{}, fmt.Errorf("job: rate_per_sec is %v, expected a positive rate of at most 10000000 for arrival %s", c.RatePerSec, arrival)
		}
	}
	limit, err := job.IntRange("request_limit_ms", 5000, 1, 3_600_000)
	if err != nil {
		return Config{}, err
	}
	c.RequestLimit = time.Duration(limit) * time.Millisecond
	return c, nil
}

// Arm returns the execution model that the job asks for.
func Arm(job driver.Job) (string, error) {
	if _, ok := job.Settings["arm"]; ok {
		return job.Text("arm", ArmCallback, ArmCoroutine, ArmGoroutine)
	}
	switch job.Arm {
	case ArmCallback, ArmCoroutine, ArmGoroutine:
		return job.Arm, nil
	}
	return "", fmt.Errorf("job: arm is %q, expected callback, coroutine or goroutine (or the setting arm)", job.Arm)
}
