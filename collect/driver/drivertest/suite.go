package drivertest

import (
	"context"
	"maps"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pairbench/collect/driver"
	"pairbench/records"
)

// Options say what the suite may ask of a driver.
type Options struct {
	// Job is a job that the driver carries out well: a fixed count of measured
	// and of warm-up operations, small enough for well under a second.
	Job driver.Job
	// Arms are the arms to try; empty tries the job's alone.
	Arms []string
	// Env is the driver's environment.
	Env []string
	// Lies are addresses of servers that answer wrongly, by what they do. Against
	// each of them the driver must report errors, or refuse.
	Lies map[string]string
}

// Run runs the suite against the driver that argv starts.
func Run(t *testing.T, argv []string, o Options) {
	arms := o.Arms
	if len(arms) == 0 {
		arms = []string{o.Job.Arm}
	}
	for _, arm := range arms {
		job := o.Job
		job.Arm = arm
		t.Run(arm, func(t *testing.T) {
			s := suite{argv: argv, env: o.Env, job: job}
			t.Run("fixed count", s.fixedCount)
			t.Run("duration", s.duration)
			t.Run("no warm-up", s.noWarmup)
			t.Run("wrong arm", s.wrongArm)
			t.Run("collector gone before go", s.collectorGone)
			t.Run("terminated while it measures", s.terminated)
			if job.Service != nil {
				t.Run("service refuses", s.refused)
			}
			for name, address := range o.Lies {
				t.Run("server lies: "+name, func(t *testing.T) { s.lie(t, address) })
			}
		})
	}
	s := suite{argv: argv, env: o.Env, job: o.Job}
	t.Run("no job", s.noJob)
	t.Run("damaged job", s.damagedJob)
}

type suite struct {
	argv, env []string
	job       driver.Job
}

func (s suite) start(t *testing.T, job driver.Job) *Process {
	t.Helper()
	return Start(t, s.argv, s.env, job)
}

// fixedCount is the whole protocol, step by step.
func (s suite) fixedCount(t *testing.T) {
	p := s.start(t, s.job)
	hello := p.UpToReady()
	if hello.Driver == "" {
		t.Error("hello does not name the driver")
	}
	if !p.silent(20 * time.Millisecond) {
		t.Fatal("driver goes on before it is told to")
	}
	result, samples, outcome, detail := p.Measure()
	if outcome != records.OutcomeOK {
		t.Errorf("%s: %s", outcome, detail)
	}
	if result.CPUProcessNs == nil && result.CPUIntervalNs == nil {
		t.Error("result holds no CPU time")
	}
	if len(samples.StartNs) > 0 && samples.StartNs[0] > result.ElapsedNs/2 {
		t.Errorf("the first sample starts at %d of %d ns: the interval does not start with the first submission", samples.StartNs[0], result.ElapsedNs)
	}
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d after the exit command, expected 0", code)
	}
}

func (s suite) duration(t *testing.T) {
	job := s.job
	job.Warmup = driver.Amount{DurationNs: int64(20 * time.Millisecond)}
	job.Measure = driver.Amount{DurationNs: int64(100 * time.Millisecond)}
	p := s.start(t, job)
	p.UpToReady()
	result, _, outcome, detail := p.Measure()
	if outcome != records.OutcomeOK {
		t.Errorf("%s: %s", outcome, detail)
	}
	if result.WarmupOperations == 0 {
		t.Error("no warm-up operation in a warm-up of 20 ms")
	}
	if code := p.Wait(); code != 0 {
		t.Errorf("exit code %d, expected 0", code)
	}
}

func (s suite) noWarmup(t *testing.T) {
	job := s.job
	job.Warmup = driver.Amount{}
	p := s.start(t, job)
	p.UpToReady()
	if _, _, outcome, detail := p.Measure(); outcome != records.OutcomeOK {
		t.Errorf("%s: %s", outcome, detail)
	}
}

func (s suite) wrongArm(t *testing.T) {
	job := s.job
	job.Arm = "no_such_arm"
	job.Settings = maps.Clone(job.Settings)
	if job.Settings == nil {
		job.Settings = map[string]any{}
	}
	job.Settings["arm"] = job.Arm
	s.start(t, job).Refusal()
}

func (s suite) collectorGone(t *testing.T) {
	p := s.start(t, s.job)
	p.UpToReady()
	p.CloseCommands()
	if code := p.Wait(); code == 0 {
		t.Error("driver exits with 0 though it was never told to measure")
	}
}

func (s suite) terminated(t *testing.T) {
	job := s.job
	job.Measure = driver.Amount{DurationNs: int64(time.Hour)}
	if job.Warmup.DurationNs > 0 {
		job.Warmup = driver.Amount{}
	}
	p := s.start(t, job)
	p.UpToReady()
	ctx := context.Background()
	if err := p.Go(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.Wait(); code == 0 {
		t.Error("driver exits with 0 when it is terminated")
	}
}

func (s suite) refused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	job := s.job
	service := *job.Service
	service.Address = listener.Addr().String()
	job.Service = &service
	if text := s.start(t, job).Refusal(); text == "" {
		t.Error("driver does not say what was refused")
	}
}

// lie passes when the driver reports errors or refuses; both name the first.
func (s suite) lie(t *testing.T, address string) {
	job := s.job
	service := *job.Service
	service.Address = address
	job.Service = &service
	p := s.start(t, job)
	ctx := context.Background()
	if _, err := p.Hello(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(ctx); err != nil {
		if driver.OutcomeOf(err) != records.OutcomeOperationErrors {
			t.Fatal(err)
		}
		p.Wait()
		return
	}
	result, _, outcome, detail := p.Measure()
	if outcome != records.OutcomeOperationErrors {
		t.Errorf("outcome is %s (%s), expected %s", outcome, detail, records.OutcomeOperationErrors)
	}
	if result.FirstError == "" {
		t.Error("result does not hold the first error's text")
	}
}

func (s suite) noJob(t *testing.T) {
	p := startWith(t, s.argv, s.env, driver.Job{})
	if code := p.Wait(); code == 0 {
		t.Error("driver exits with 0 without a job")
	}
}

func (s suite) damagedJob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job.json")
	for _, text := range []string{"", "{", `{"protocol":99}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := startWith(t, s.argv, append(s.env, driver.JobEnv+"="+path), driver.Job{})
		if code := p.Wait(); code == 0 {
			t.Errorf("driver exits with 0 after the job %q", text)
		}
	}
}
