package drivertest

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pairbench/collect/driver"
	"pairbench/records"
)

// stepLimit bounds everything that a driver does in this suite; none of it takes
// a tenth of that.
const stepLimit = 30 * time.Second

// Process is a driver that was started with a job.
type Process struct {
	*driver.Session
	Job driver.Job

	t                           testing.TB
	cmd                         *exec.Cmd
	messages, commands, samples *os.File
	ended                       chan struct{}
}

// Start starts the driver with a job. What it leaves is ended with the test.
func Start(t testing.TB, argv, env []string, job driver.Job) *Process {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.json")
	if err := driver.WriteJob(path, job); err != nil {
		t.Fatal(err)
	}
	return startWith(t, argv, append(env, driver.JobEnv+"="+path), job)
}

func startWith(t testing.TB, argv, env []string, job driver.Job) *Process {
	t.Helper()
	messagesR, messagesW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	commandsR, commandsW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := os.Create(filepath.Join(t.TempDir(), "samples"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{
		Job: job, t: t, messages: messagesR, commands: commandsW, samples: samples, ended: make(chan struct{}),
		cmd: exec.Command(argv[0], argv[1:]...),
	}
	p.cmd.Env = env
	p.cmd.ExtraFiles = []*os.File{messagesW, commandsR, samples}
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start driver: %v", err)
	}
	messagesW.Close()
	commandsR.Close()
	p.Session = driver.NewSession(messagesR, commandsW, samples, driver.Limits{Step: stepLimit})
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		for _, f := range []*os.File{messagesR, commandsW, samples, output} {
			f.Close()
		}
		if t.Failed() {
			if text, err := os.ReadFile(output.Name()); err == nil && len(text) > 0 {
				t.Logf("output of the driver:\n%s", text)
			}
		}
	})
	return p
}

// Wait waits until the driver has ended and returns its exit code, -1 when a
// signal ended it.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(stepLimit):
		p.t.Fatalf("driver has not ended after %v", stepLimit)
		return 0
	}
}

// CloseCommands makes the driver's collector disappear.
func (p *Process) CloseCommands() { p.commands.Close() }

// UpToReady takes the driver to where it waits for go.
func (p *Process) UpToReady() driver.Hello {
	p.t.Helper()
	ctx := context.Background()
	hello, err := p.Hello(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.Ready(ctx); err != nil {
		p.t.Fatal(err)
	}
	return hello
}

// Measure takes a ready driver to its end, and returns what it counted and what
// Check says of it.
func (p *Process) Measure() (driver.Result, records.Samples, records.Outcome, string) {
	p.t.Helper()
	ctx := context.Background()
	if err := errors.Join(p.Go(ctx), p.Begin(ctx)); err != nil {
		p.t.Fatal(err)
	}
	result, err := p.End(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.Done(ctx); err != nil {
		p.t.Fatal(err)
	}
	samples, err := p.Samples(1 << 24)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.Exit(ctx); err != nil {
		p.t.Fatal(err)
	}
	interval, _ := p.Elapsed(driver.CommandGo, driver.TypeEnd)
	intervalNs := int64(interval)
	outcome, detail := driver.Check(p.Job, result, &samples, driver.Observed{IntervalNs: &intervalNs})
	return result, samples, outcome, detail
}

// Refusal takes a driver that cannot do its job to its end. It returns what the
// driver said, and fails the test if it got as far as ready or exits with 0.
func (p *Process) Refusal() string {
	p.t.Helper()
	ctx := context.Background()
	_, err := p.Hello(ctx)
	if err == nil {
		err = p.Ready(ctx)
	}
	if err == nil {
		p.t.Fatal("driver says that it is ready")
	}
	var stated *driver.DriverError
	if !errors.As(err, &stated) {
		p.t.Fatalf("driver does not say why it cannot go on: %v", err)
	}
	if code := p.Wait(); code == 0 {
		p.t.Error("driver exits with 0")
	}
	return stated.Text
}

// silent reports whether the driver says nothing for a while.
func (p *Process) silent(wait time.Duration) bool {
	p.t.Helper()
	if err := p.messages.SetReadDeadline(time.Now().Add(wait)); err != nil {
		p.t.Fatal(err)
	}
	n, err := p.messages.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) || err == io.EOF
}
