package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// pinProcess keeps every thread of the process on cpus. Threads that the
// runtime starts later inherit it.
func pinProcess(cpus []int) error {
	var set unix.CPUSet
	for _, n := range cpus {
		set.Set(n)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("pin to processors %v: %w", cpus, err)
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil && err != unix.ESRCH {
			return fmt.Errorf("pin to processors %v: %w", cpus, err)
		}
	}
	return nil
}
