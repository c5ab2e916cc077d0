package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pairbench/collect/driver"
)

// TestMain makes the test binary the command, and with a job a driver that
// misbehaves as the job says.
func TestMain(m *testing.M) {
	if os.Getenv(driver.JobEnv) != "" {
		if err := misbehave(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testscript.Main(m, map[string]func(){"pairbench": main})
}
