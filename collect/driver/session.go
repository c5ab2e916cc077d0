package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"pairbench/records"
)

// Limits bound the steps of a session; zero is no limit.
type Limits struct {
	// Step bounds every step by itself; Warmup and Measure come on top for the
	// steps that end with ready and with end.
	Step    time.Duration
	Warmup  time.Duration
	Measure time.Duration
}

// Step is one message that arrived or one command that was sent.
type Step struct {
	// Name is the type of the message or command.
	Name string
	// AtNs is the monotonic time since NewSession: of a message when it had
	// arrived, of a command before it was sent.
	AtNs int64
}

// Session is the collector's end of the protocol with one process. Its methods
// are called in the order of the protocol (Hello, Ready, Go, Begin, End, Done,
// Samples, Exit) and from one goroutine. An error ends the session; OutcomeOf
// says what it means for the process.
type Session struct {
	messages *os.File
	commands *os.File
	samples  *os.File
	lines    lineReader
	limits   Limits
	started  time.Time
	steps    []Step
}

// NewSession starts a session over the read end of FDMessages, the write end of
// FDCommands and the file that FDSamples names. The caller keeps the files and
// closes them. Both pipe ends must take deadlines, as those of os.Pipe do.
func NewSession(messages, commands, samples *os.File, limits Limits) *Session {
	return &Session{
		messages: messages, commands: commands, samples: samples,
		lines: lineReader{r: messages}, limits: limits, started: time.Now(),
	}
}

// Hello waits for the driver's first message.
func (s *Session) Hello(ctx context.Context) (Hello, error) {
	m, err := s.receive(ctx, TypeHello, s.limits.Step)
	if err != nil {
		return Hello{}, err
	}
	return *m.Hello, nil
}

// Ready waits until the driver is connected and warm.
func (s *Session) Ready(ctx context.Context) error {
	_, err := s.receive(ctx, TypeReady, plus(s.limits.Step, s.limits.Warmup))
	return err
}

// Go lets the measured interval start.
func (s *Session) Go(ctx context.Context) error { return s.command(ctx, CommandGo) }

// Begin waits for the start of the measured interval.
func (s *Session) Begin(ctx context.Context) error {
	_, err := s.receive(ctx, TypeBegin, s.limits.Step)
	return err
}

// End waits for the end of the measured interval and returns what the driver
// counted, unchecked.
func (s *Session) End(ctx context.Context) (Result, error) {
	m, err := s.receive(ctx, TypeEnd, plus(s.limits.Step, s.limits.Measure))
	if err != nil {
		return Result{}, err
	}
	return *m.End, nil
}

// Done waits until the sample frame is written. The process is then still there,
// and its counters can be read from outside.
func (s *Session) Done(ctx context.Context) error {
	_, err := s.receive(ctx, TypeDone, s.limits.Step)
	return err
}

// Samples reads the sample frame from the start of the samples file. No frame at
// all, a file of no bytes, is ErrNoFrame.
func (s *Session) Samples(maxCount int64) (records.Samples, error) {
	size, err := s.samples.Seek(0, io.SeekEnd)
	if err != nil {
		return records.Samples{}, fmt.Errorf("read sample frame: %w", err)
	}
	if size == 0 {
		return records.Samples{}, ErrNoFrame
	}
	return ReadFrame(io.NewSectionReader(s.samples, 0, size), maxCount)
}

// ErrNoFrame is returned by Samples when the driver wrote nothing to FDSamples.
var ErrNoFrame = errors.New("no sample frame was written")

// Exit lets the driver exit, and closes the command pipe's end behind it.
func (s *Session) Exit(ctx context.Context) error { return s.command(ctx, CommandExit) }

// Steps returns what arrived and was sent so far, in order.
func (s *Session) Steps() []Step { return s.steps }

// Elapsed returns the time between two steps, and whether both happened.
func (s *Session) Elapsed(from, to string) (time.Duration, bool) {
	var a, b *Step
	for i := range s.steps {
		switch s.steps[i].Name {
		case from:
			a = &s.steps[i]
		case to:
			b = &s.steps[i]
		}
	}
	if a == nil || b == nil {
		return 0, false
	}
	return time.Duration(b.AtNs - a.AtNs), true
}

func (s *Session) receive(ctx context.Context, want string, limit time.Duration) (Message, error) {
	line, err := s.wait(ctx, s.messages.SetReadDeadline, want, limit, s.lines.next)
	if err != nil {
		return Message{}, err
	}
	m, err := ParseMessage(line)
	switch {
	case err != nil:
		return Message{}, &ProtocolError{Step: want, Detail: err.Error()}
	case m.Type == TypeError:
		return Message{}, &DriverError{Step: want, Text: m.Error}
	case m.Type != want:
		return Message{}, &ProtocolError{Step: want, Detail: "got " + m.Type}
	}
	s.note(want, time.Since(s.started))
	return m, nil
}

func (s *Session) command(ctx context.Context, name string) error {
	line, err := encodeLine(Command{Type: name})
	if err != nil {
		return err
	}
	// The driver may run before this goroutine does again, so a command's time is
	// the one before it was sent: what the driver measures lies inside.
	at := time.Since(s.started)
	_, err = s.wait(ctx, s.commands.SetWriteDeadline, name, s.limits.Step, func() ([]byte, error) {
		_, err := s.commands.Write(line)
		return nil, err
	})
	if err != nil {
		return err
	}
	s.note(name, at)
	return nil
}

func (s *Session) note(name string, at time.Duration) {
	s.steps = append(s.steps, Step{Name: name, AtNs: int64(at)})
}

// wait runs one blocking read or write under the step's limit and the context.
func (s *Session) wait(ctx context.Context, deadline func(time.Time) error, step string, limit time.Duration, op func() ([]byte, error)) ([]byte, error) {
	var until time.Time
	if limit > 0 {
		until = time.Now().Add(limit)
	}
	if err := deadline(until); err != nil {
		return nil, fmt.Errorf("limit step %s: %w", step, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = deadline(time.Unix(1, 0)) })
	line, err := op()
	stop()
	switch {
	case err == nil:
		return line, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("step %s: %w", step, context.Cause(ctx))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &TimeoutError{Step: step, Limit: limit}
	case err == io.EOF:
		return nil, &ProtocolError{Step: step, Detail: "driver closed its messages", Left: true}
	case err == io.ErrUnexpectedEOF:
		return nil, &ProtocolError{Step: step, Detail: "driver closed its messages inside a line", Left: true}
	default:
		return nil, &ProtocolError{Step: step, Detail: err.Error(), Left: !errors.Is(err, ErrTooLong)}
	}
}

// plus adds to a limit; no limit stays no limit.
func plus(limit, more time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return limit + more
}

// ProtocolError says that the driver broke the protocol or left it early.
type ProtocolError struct {
	// Step is the message or command that was due.
	Step   string
	Detail string
	// Left says that the driver closed its side rather than said something
	// wrong; its exit code or signal then tells more.
	Left bool
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("wait for %s: %s", e.Step, e.Detail)
}

// TimeoutError says that a step outlived its limit.
type TimeoutError struct {
	Step  string
	Limit time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("wait for %s: nothing within %v", e.Step, e.Limit)
}

// DriverError is what the driver said when it could not go on.
type DriverError struct {
	Step string
	Text string
}

func (e *DriverError) Error() string {
	return fmt.Sprintf("wait for %s: driver reports: %s", e.Step, e.Text)
}

// OutcomeOf maps an error of a session to the outcome of its process. For a
// ProtocolError with Left set the process's own exit code or signal, where
// there is one, is the better outcome. A damaged frame is an invalid result.
func OutcomeOf(err error) records.Outcome {
	var timeout *TimeoutError
	var stated *DriverError
	switch {
	case err == nil:
		return records.OutcomeOK
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return records.OutcomeInterrupted
	case errors.As(err, &timeout):
		return records.OutcomeTimeout
	case errors.As(err, &stated):
		return records.OutcomeOperationErrors
	case errors.Is(err, ErrBadFrame), errors.Is(err, ErrNoFrame):
		return records.OutcomeInvalidResult
	default:
		return records.OutcomeProtocolError
	}
}
