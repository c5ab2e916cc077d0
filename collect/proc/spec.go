package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// TokenEnv names the variable that marks a process and its descendants. Its
// value is unique to one start and always of the same length, so that the
// environments of both arms have the same size.
const TokenEnv = "PAIRBENCH_PROCESS_TOKEN"

// Limits that apply where a Spec leaves them zero.
const (
	DefaultOutputLimit = 64 << 20
	DefaultSampleLimit = 2 << 30
	DefaultGrace       = 500 * time.Millisecond
)

// RSSMethod says how the peak of the resident set is read.
type RSSMethod int

// The methods. RSSAtSnapshot is for drivers that speak the protocol and wait
// to be told to exit; RSSAtExit for programs that end by themselves: it
// stops the program at its exit through ptrace, or, where the system bars
// ptrace, starts it through a launcher of a few hundred bytes. RSSByLauncher
// asks for the launcher outright: one method for both arms of a pair.
const (
	RSSAtSnapshot RSSMethod = iota
	RSSAtExit
	RSSByLauncher
)

// Spec is one process to start.
type Spec struct {
	// Argv is the argument vector, never split or expanded. The program is
	// Argv[0] as Resolve finds it.
	Argv []string
	// Env is the whole environment, KEY=value; TokenEnv is added.
	Env []string
	// Dir is the working directory; empty is the collector's.
	Dir string
	// StdoutPath and StderrPath are created (mode 0600, and must not exist) and
	// may be the same file. Empty discards the output.
	StdoutPath, StderrPath string
	// Stdin is what the process reads at fd 0; nil is the null device. The caller
	// closes it.
	Stdin *os.File
	// OutputLimit bounds each of the two files, SampleLimit what the process
	// writes to fd 5, in bytes. A process that passes a limit is ended; since
	// sizes are looked at ten times a second, a file can grow past it by what is
	// written in that time. Zero is the default, negative no limit.
	OutputLimit, SampleLimit int64
	// Protocol opens fds 3, 4 and 5.
	Protocol bool
	// CPUs are the processors that the process, from its first instruction, and
	// all its threads may run on; empty is the collector's own set.
	CPUs []int
	// TimeLimit bounds the life of the process on the monotonic clock; zero is
	// no limit. Grace is the time between SIGTERM and SIGKILL.
	TimeLimit, Grace time.Duration
	RSS              RSSMethod
}

// StartKind says why a program could not be started.
type StartKind string

// The kinds of StartError.
const (
	StartNotFound      StartKind = "not_found"      // no such file
	StartNotExecutable StartKind = "not_executable" // a directory, or no permission
	StartExecFormat    StartKind = "exec_format"    // not a program of this system
	StartInterpreter   StartKind = "interpreter"    // the file is there, its interpreter or loader is not
	StartCPUs          StartKind = "cpus"           // the processors asked for are not available
	StartOther         StartKind = "other"
)

// StartError is returned by Start when no process came to be: a fact about the
// program, to be recorded as outcome start_failed.
type StartError struct {
	Program string
	Kind    StartKind
	Err     error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("start %s: %s: %v", e.Program, strings.ReplaceAll(string(e.Kind), "_", " "), e.Err)
}

// Unwrap returns the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// Resolve returns the absolute path of the program that Start would execute
// for argv0: a path as it is, relative to the collector's working directory; a
// bare name as found on the collector's PATH. The error is a *StartError.
func Resolve(argv0 string) (string, error) {
	if argv0 == "" {
		return "", &StartError{Program: `""`, Kind: StartNotFound, Err: errors.New("the argument vector names no program")}
	}
	path, err := exec.LookPath(argv0)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if err != nil {
		kind := StartOther
		switch {
		case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
			kind = StartNotFound
		case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR):
			kind = StartNotExecutable
		}
		var lookup *exec.Error
		if errors.As(err, &lookup) {
			err = lookup.Err
		}
		return "", &StartError{Program: argv0, Kind: kind, Err: err}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &StartError{Program: argv0, Kind: StartOther, Err: err}
	}
	return abs, nil
}
