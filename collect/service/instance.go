package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"pairbench/collect/driver"
	"pairbench/collect/proc"
	"pairbench/collect/redact"
)

// Instance is a server that answers. Its fields are for reading.
type Instance struct {
	// Service is what a driver's job says of it.
	Service driver.Service
	Name    string
	Kind    Kind
	Mode    Mode
	// Product and Version are what the server says it is: redis 7.0.15,
	// mariadb 10.11.6; an echo server of unknown make has neither.
	Product, Version string
	// BinaryPath, Pid and Argv are empty for an external server. Argv is for the
	// record: the private directory and a port that was chosen freely read {dir}
	// and {port}, so that two runs with the same settings are equal.
	BinaryPath string
	Pid        int
	Argv       []string
	// CPUs are the processors that held once the server answered, as the system
	// tells; nil is unknown.
	CPUs []int
	// TLS is the version and cipher that the probe got, as in "TLS 1.3
	// TLS_AES_128_GCM_SHA256"; empty without TLS.
	TLS string

	spec     Spec
	secrets  []string
	process  *proc.Process
	dir      *privateDir
	stdin    *os.File
	stopOnce sync.Once
	stopping bool
	stopErr  error
	mu       sync.Mutex
}

// Start brings the server that spec describes and returns when it answers. The
// error names the service, the cause and, where a program is missing, the
// package that brings it. Nothing is left behind after an error.
func Start(ctx context.Context, spec Spec) (*Instance, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if spec.ReadyLimit == 0 {
		spec.ReadyLimit = DefaultReadyLimit
	}
	ctx, cancel := context.WithTimeout(ctx, spec.ReadyLimit)
	defer cancel()
	i := &Instance{Name: spec.Name, Kind: spec.Kind, Mode: spec.Mode, spec: spec}
	if spec.Mode == External {
		if err := i.connect(ctx); err != nil {
			return nil, spec.errorf("connect", "%w", i.clean(err))
		}
		return i, nil
	}
	var err error
	if i.dir, err = newPrivateDir(spec.Dir); err == nil {
		switch {
		case spec.Mode == Embedded:
			err = i.startEmbedded(ctx)
		case spec.Kind == Redis:
			err = i.startRedis(ctx)
		default:
			err = i.startMySQL(ctx)
		}
		if err != nil {
			i.Stop(context.Background())
		}
	}
	if err != nil {
		return nil, spec.errorf("start", "%w", i.clean(err))
	}
	return i, nil
}

// Env is what a driver's environment needs for this service: the password's
// variable, where there is a password. It never goes into a record.
func (i *Instance) Env() []string {
	if i.Service.PasswordEnv == "" {
		return nil
	}
	return []string{i.Service.PasswordEnv + "=" + i.secrets[0]}
}

// Secrets lists what no record may hold.
func (i *Instance) Secrets() []string { return append([]string(nil), i.secrets...) }

// Done is closed when a server that Start started has ended; it is nil for an
// external one.
func (i *Instance) Done() <-chan struct{} {
	if i.process == nil {
		return nil
	}
	return i.process.Done()
}

// Err says why the server is no longer there, with the last lines of its log;
// nil while it runs, after Stop, and for an external server.
func (i *Instance) Err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.process == nil || i.stopping {
		return nil
	}
	select {
	case <-i.process.Done():
		return i.clean(i.spec.errorf("watch", "%w", i.ended()))
	default:
		return nil
	}
}

// Snapshot reads the server's counters from outside; it fails for an external
// server and for one that has ended.
func (i *Instance) Snapshot() (proc.Snapshot, error) {
	if i.process == nil {
		return proc.Snapshot{}, i.spec.errorf("watch", "an external server's counters are not ours to read")
	}
	return i.process.Snapshot()
}

// Stop ends a server that Start started, SIGTERM first, and removes its private
// directory. It may be called more than once; the first result stays. An
// external server is left as it is.
func (i *Instance) Stop(ctx context.Context) error {
	i.stopOnce.Do(func() { i.stopErr = i.stop(ctx) })
	return i.stopErr
}

func (i *Instance) stop(ctx context.Context) error {
	i.mu.Lock()
	i.stopping = true
	i.mu.Unlock()
	var errs []error
	if i.process != nil {
		i.process.End()
		if exit := i.process.Wait(ctx); exit.Remaining > 0 {
			errs = append(errs, i.spec.errorf("stop", "process %d does not end", i.Pid))
		}
		i.process.Close()
	}
	if i.stdin != nil {
		i.stdin.Close()
	}
	if i.dir != nil {
		if err := i.dir.remove(); err != nil {
			errs = append(errs, i.spec.errorf("stop", "remove its directory: %w", err))
		}
	}
	return errors.Join(errs...)
}

// stopGrace is what a server gets to close its files before SIGKILL.
const stopGrace = 5 * time.Second

// pollInterval is the time between two looks at a server that starts.
const pollInterval = 2 * time.Millisecond

// logName is the file in the private directory that takes a server's output.
const logName = "server.log"

// errAddressTaken marks a start that lost its port to another program.
var errAddressTaken = errors.New("address already in use")

// launch starts argv with the private directory as its home and waits until
// probe succeeds. Before that, the end of the server or of ctx is an error.
func (i *Instance) launch(ctx context.Context, argv []string, stdin *os.File, probe func(context.Context) error) error {
	log := i.dir.file(logName)
	os.Remove(log)
	process, err := proc.Start(proc.Spec{
		Argv: argv, Env: i.environment(), Dir: i.dir.path, Stdin: stdin,
		StdoutPath: log, StderrPath: log, CPUs: i.spec.CPUs, Grace: stopGrace,
	})
	if err != nil {
		return err
	}
	i.process, i.Pid = process, process.Pid()
	for {
		err := probe(ctx)
		if err == nil {
			break
		}
		select {
		case <-process.Done():
			return i.ended()
		case <-ctx.Done():
			if tail := lastLines(log); tail != "" {
				return fmt.Errorf("it does not answer: %w; its last words: %s", err, tail)
			}
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(pollInterval):
		}
	}
	snapshot, err := process.Snapshot()
	if err != nil {
		return err
	}
	i.CPUs = snapshot.CPUs
	return nil
}

// abandon ends a process whose start failed, so that another can be tried.
func (i *Instance) abandon() {
	if i.process != nil {
		i.process.End()
		i.process.Wait(context.Background())
		i.process = nil
	}
}

// environment is all that a server needs; nothing of the collector's own is
// passed on but the search path.
func (i *Instance) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + i.dir.path, "TMPDIR=" + i.dir.path, "LC_ALL=C", "TZ=UTC"}
}

// ended describes a server that is gone.
func (i *Instance) ended() error {
	how := how(i.process.Wait(context.Background()))
	tail := lastLines(i.dir.file(logName))
	switch {
	case strings.Contains(strings.ToLower(tail), "address already in use"):
		return fmt.Errorf("%s: %w; its last words: %s", how, errAddressTaken, tail)
	case tail == "":
		return errors.New(how)
	}
	return fmt.Errorf("%s; its last words: %s", how, tail)
}

func how(exit proc.Exit) string {
	switch {
	case exit.Cause != "":
		return "it was ended: " + strings.ReplaceAll(string(exit.Cause), "_", " ")
	case exit.Signal != nil:
		return fmt.Sprintf("signal %d (%v) ended it", *exit.Signal, syscall.Signal(*exit.Signal))
	case exit.ExitCode != nil:
		return fmt.Sprintf("it exited with %d", *exit.ExitCode)
	}
	return "its status is lost"
}

// lastLines is the end of a log on one line.
func lastLines(path string) string {
	lines := bytes.Split(bytes.TrimSpace(proc.Tail(path, 2<<10)), []byte("\n"))
	if len(lines) > 5 {
		lines = lines[len(lines)-5:]
	}
	return string(bytes.Join(lines, []byte(" | ")))
}

// cleanError is an error whose text has lost its secrets.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }

// clean takes secrets out of the words of an error.
func (i *Instance) clean(err error) error {
	text := []byte(err.Error())
	for _, secret := range i.secrets {
		text = bytes.ReplaceAll(text, []byte(secret), []byte(redact.Mark))
	}
	if i.spec.Redact != nil {
		text = i.spec.Redact(text)
	}
	if string(text) == err.Error() {
		return err
	}
	return &cleanError{text: string(text), err: err}
}

// record keeps argv for the bundle, without what changes from run to run.
func (i *Instance) record(argv []string, port string) {
	i.Argv = make([]string, len(argv))
	for n, argument := range argv {
		argument = strings.ReplaceAll(argument, i.dir.path, "{dir}")
		if i.spec.Address == "" {
			for _, form := range []string{"=" + port, ":" + port} {
				if before, ok := strings.CutSuffix(argument, form); ok {
					argument = before + form[:1] + "{port}"
				}
			}
			if argument == port {
				argument = "{port}"
			}
		}
		i.Argv[n] = argument
	}
	i.BinaryPath = filepath.Clean(argv[0])
}
