package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
	"pairbench/collect/workload/engine"
)

const serveUsage = `usage: pbdriver serve [--listen HOST:PORT] [--protocol resp2|tcp|http|websocket] [--cpus LIST]

Answers clients with what they send. Prints {"address":"HOST:PORT"} on stdout
when it listens; stops on SIGTERM or SIGINT, or when a pipe on stdin closes.
`

// serve runs the embedded server until ctx ends or a pipe on stdin closes, and
// returns the exit code.
func serve(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	err := runServer(ctx, args, stdin, stdout, stderr)
	switch usage := (*usageError)(nil); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "pbdriver serve: %v\n", err)
		return 2
	default:
		fmt.Fprintf(stderr, "pbdriver serve: %v\n", err)
		return 1
	}
}

// usageError is a command line that cannot be meant.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func runServer(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	listen := flags.String("listen", "127.0.0.1:0", "")
	protocol := flags.String("protocol", string(echoserver.RESP2), "")
	cpuList := flags.String("cpus", "", "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, serveUsage)
		return err
	} else if err != nil {
		return &usageError{err.Error()}
	}
	if flags.NArg() > 0 {
		return &usageError{fmt.Sprintf("unexpected argument %q", flags.Arg(0))}
	}
	if *cpuList != "" {
		cpus, err := parseCPUs(*cpuList)
		if err != nil {
			return &usageError{err.Error()}
		}
		if _, err := engine.Apply(driver.Job{ClientCPUs: cpus}); err != nil {
			return err
		}
		runtime.GOMAXPROCS(len(cpus))
	}
	server, err := echoserver.Listen(*listen, echoserver.Protocol(*protocol))
	if err != nil {
		return err
	}
	defer server.Close()
	ready, err := json.Marshal(struct {
		Address string `json:"address"`
	}{server.Address()})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "%s\n", ready); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	case <-closed(stdin):
	}
	server.Close()
	return <-ended
}

// closed returns a channel that is closed when the other end of a pipe on stdin
// is. A terminal, a file or /dev/null on stdin has no other end.
func closed(stdin *os.File) <-chan struct{} {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil
	}
	c := make(chan struct{})
	go func() {
		io.Copy(io.Discard, stdin)
		close(c)
	}()
	return c
}

// parseCPUs reads a list of processors as taskset prints it: 0,2-3.
func parseCPUs(list string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.ParseUint(from, 10, 10)
		high := low
		if err == nil && isRange {
			high, err = strconv.ParseUint(to, 10, 10)
		}
		if err != nil || high < low {
			return nil, fmt.Errorf("cpus is %q, expected a list like 0,2-3", list)
		}
		for n := low; n <= high; n++ {
			cpus = append(cpus, int(n))
		}
	}
	return cpus, nil
}
