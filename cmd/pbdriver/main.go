package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"pairbench/collect/driver"
	"pairbench/collect/workload/engine"
)

// version is set by the linker.
var version = "dev"

const usage = `usage: pbdriver                 carry out the job that PAIRBENCH_JOB names
       pbdriver calibrate       print what measuring costs on this machine, as JSON
       pbdriver serve           run the embedded server (see pbdriver serve --help)
       pbdriver --version
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run returns the exit code: 0 done, 1 failed, 2 a command line that cannot be
// meant. A job whose operations failed is done: its result says so.
func run(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch {
	case command == "serve":
		ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer cancel()
		return serve(ctx, args[1:], stdin, stdout, stderr)
	case len(args) == 0 && os.Getenv(driver.JobEnv) != "":
		if err := carryOut(); err != nil {
			fmt.Fprintf(stderr, "pbdriver: %v\n", err)
			return 1
		}
		return 0
	case len(args) == 1 && command == "calibrate":
		if err := json.NewEncoder(stdout).Encode(engine.Calibrate()); err != nil {
			fmt.Fprintf(stderr, "pbdriver calibrate: %v\n", err)
			return 1
		}
		return 0
	case len(args) == 1 && command == "--version":
		fmt.Fprintf(stdout, "pbdriver %s\n", version)
		return 0
	case len(args) == 1 && (command == "--help" || command == "-h"):
		fmt.Fprint(stdout, usage)
		return 0
	default:
		fmt.Fprint(stderr, usage)
		return 2
	}
}
