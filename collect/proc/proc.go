package proc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// watchInterval is how often the sizes of the output files are looked at: rare
// enough not to disturb a measurement, often enough not to fill a disk.
const watchInterval = 100 * time.Millisecond

// endDeadline bounds the time that a process, and then its leftovers, have to
// be gone after SIGKILL.
const endDeadline = 5 * time.Second

// Process is one started process. Its methods may be called from any
// goroutine.
type Process struct {
	// pid is the leader of the process's session; programPid differs from it
	// where the leader is the launcher.
	pid, programPid int
	token           string
	spec            Spec
	started         time.Time

	files    childFiles
	endOnce  sync.Once
	endAsked chan Cause
	// gone is closed when the keeper has reaped the process and filled kept;
	// finished when nothing of it is left and exit, the supervisor's, is complete.
	gone, finished chan struct{}
	kept, exit     Exit

	// mu guards reaped: while it is held and reaped is false, pid is ours.
	mu       sync.Mutex
	reaped   bool
	lastPeak *PeakRSS
	systemState
}

// Start starts the process that spec describes. A *StartError says that the
// program could not be started; any other error that the collector could not
// do its part (create the output files, say). No file is left behind then.
func Start(spec Spec) (*Process, error) {
	if len(spec.Argv) == 0 {
		spec.Argv = []string{""}
	}
	program, err := Resolve(spec.Argv[0])
	if err != nil {
		return nil, err
	}
	if spec.OutputLimit == 0 {
		spec.OutputLimit = DefaultOutputLimit
	}
	if spec.SampleLimit == 0 {
		spec.SampleLimit = DefaultSampleLimit
	}
	if spec.Grace == 0 {
		spec.Grace = DefaultGrace
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("start %s: make a token: %w", program, err)
	}
	p := &Process{
		spec:     spec,
		token:    hex.EncodeToString(random[:]),
		endAsked: make(chan Cause, 1),
		gone:     make(chan struct{}),
		finished: make(chan struct{}),
	}
	if err := p.files.open(spec); err != nil {
		p.files.remove(spec)
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	started := make(chan error)
	go p.keep(program, started)
	if err := <-started; err != nil {
		p.files.remove(spec)
		return nil, startError(program, err)
	}
	p.files.closeChildEnds()
	go p.supervise()
	return p, nil
}

// startError sorts the errors of fork and exec.
func startError(program string, err error) error {
	var already *StartError
	if errors.As(err, &already) {
		already.Program = program
		return already
	}
	kind := StartOther
	switch {
	case errors.Is(err, syscall.ENOENT):
		// Resolve found the file, so what is missing is what it asks for.
		kind = StartInterpreter
	case errors.Is(err, syscall.EACCES):
		kind = StartNotExecutable
	case errors.Is(err, syscall.ENOEXEC):
		kind = StartExecFormat
	}
	return &StartError{Program: program, Kind: kind, Err: err}
}

// Pid is the process's number; after Wait it may belong to another process.
func (p *Process) Pid() int { return p.programPid }

// Started is the time of the start, with a monotonic reading.
func (p *Process) Started() time.Time { return p.started }

// Token is the value of TokenEnv in the process's environment.
func (p *Process) Token() string { return p.token }

// Messages is the reading end of the process's fd 3, Commands the writing end
// of its fd 4, Samples a read-only view of the file at its fd 5 with an offset
// of its own. All are nil without Protocol and belong to the Process: Close
// closes them. Messages and Commands accept deadlines.
func (p *Process) Messages() *os.File { return p.files.messages }

// Commands is described at Messages.
func (p *Process) Commands() *os.File { return p.files.commands }

// Samples is described at Messages.
func (p *Process) Samples() *os.File { return p.files.samples }

// End asks for the end of the process, SIGTERM first and SIGKILL after the
// grace, and returns at once. It does nothing to a process that has ended.
func (p *Process) End() { p.end(CauseEnded) }

func (p *Process) end(cause Cause) {
	p.endOnce.Do(func() { p.endAsked <- cause })
}

// Done is closed when the process and everything it started are gone.
func (p *Process) Done() <-chan struct{} { return p.finished }

// Wait returns when the process has ended, its leftovers are gone and all is
// reaped. When ctx is done first, the process is ended. Wait may be called more
// than once.
func (p *Process) Wait(ctx context.Context) Exit {
	select {
	case <-p.finished:
	case <-ctx.Done():
		p.end(CauseCancelled)
		<-p.finished
	}
	return p.exit
}

// Close closes the collector's ends of the protocol files. The process itself
// is not touched; the output files stay.
func (p *Process) Close() { p.files.closeOwnEnds() }

// Snapshot reads the process's counters from outside. It fails when the
// process has ended.
func (p *Process) Snapshot() (Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return Snapshot{}, fmt.Errorf("snapshot of process %d: %w", p.pid, os.ErrProcessDone)
	}
	s, err := p.readSnapshot()
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of process %d: %w", p.pid, err)
	}
	if s.Peak != nil {
		p.lastPeak = s.Peak
	}
	return s, nil
}

// supervise holds the limits, ends the process when one is passed, and, when
// the process is gone, ends what it left.
func (p *Process) supervise() {
	defer close(p.finished)
	var limit <-chan time.Time
	if p.spec.TimeLimit > 0 {
		timer := time.NewTimer(p.spec.TimeLimit - time.Since(p.started))
		defer timer.Stop()
		limit = timer.C
	}
	watch := time.NewTicker(watchInterval)
	defer watch.Stop()
	var cause Cause
	for cause == "" {
		select {
		case <-p.gone:
			p.finish()
			return
		case <-limit:
			cause = CauseTimeLimit
		case cause = <-p.endAsked:
		case <-watch.C:
			cause = p.files.overLimit(p.spec)
		}
	}
	p.exit.Cause = cause
	p.signalAll(syscall.SIGTERM)
	if !p.goneWithin(p.spec.Grace) {
		deadline := time.Now().Add(endDeadline)
		for p.signalAll(syscall.SIGKILL); !p.goneWithin(time.Second) && time.Now().Before(deadline); {
			p.signalAll(syscall.SIGKILL)
		}
	}
	p.finish()
}

func (p *Process) goneWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}

// finish completes exit once the process is reaped, or cannot be ended.
func (p *Process) finish() {
	cause := p.exit.Cause
	select {
	case <-p.gone:
		p.exit = p.kept
		p.sweep()
	default:
		p.exit.Remaining = 1
	}
	p.exit.StartedAt = p.started
	if cause == "" {
		cause = p.files.overLimit(p.spec)
	}
	p.exit.Cause = cause
	if cause != CauseOutputLimit && cause != CauseSampleLimit {
		p.exit.NoRoom = p.files.room()
	}
	p.mu.Lock()
	if p.exit.Peak == nil {
		p.exit.Peak = p.lastPeak
	}
	p.mu.Unlock()
	p.files.closeWatched()
}
