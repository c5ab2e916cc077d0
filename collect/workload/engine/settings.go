package engine

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"pairbench/collect/driver"
)

// Defaults of the Go runtime in a driver, where the plan says nothing. The owner
// and the IO thread keep a P each, and garbage collection needs one more; a higher
// GOGC would not fit the resident set that a small cell is meant to have.
const (
	defaultProcs = 3
	defaultGOGC  = 100
)

// Apply pins the process to the job's client CPUs and sets GOMAXPROCS and GOGC
// (the settings gomaxprocs and gogc), before anything else is started. It
// returns what now holds, for the result's runtime settings.
func Apply(job driver.Job) (map[string]string, error) {
	if len(job.ClientCPUs) > 0 {
		if err := pinProcess(job.ClientCPUs); err != nil {
			return nil, fmt.Errorf("pin to cpus %v: %w", job.ClientCPUs, err)
		}
	}
	procs, err := job.IntRange("gomaxprocs", defaultProcs, 2, 1024)
	if err != nil {
		return nil, err
	}
	gogc, err := job.IntRange("gogc", defaultGOGC, -1, 1_000_000)
	if err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(int(procs))
	debug.SetGCPercent(int(gogc))
	held := map[string]string{"gomaxprocs": strconv.FormatInt(procs, 10), "gogc": strconv.FormatInt(gogc, 10)}
	if gogc < 0 {
		held["gogc"] = "off"
	}
	return held, nil
}

// HeldCPUs returns the processors that the process's threads may use now, as a
// list such as "0" or "0-1,4", or "" where the system does not tell.
func HeldCPUs() string {
	cpus, ok := heldCPUs()
	if !ok {
		return ""
	}
	return formatCPUs(cpus)
}

// formatCPUs writes an ascending list of processors with its runs joined.
func formatCPUs(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}
