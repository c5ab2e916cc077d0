package collect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pairbench/collect"
	"pairbench/collect/driver"
	"pairbench/collect/plan"
	"pairbench/records"
	"pairbench/records/bundle"
)

// The test binary is its own driver: started with a job it behaves as the job's
// factor says.
func TestMain(m *testing.M) {
	if os.Getenv(driver.JobEnv) != "" {
		if err := drive(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "plain" {
		fmt.Print(os.Args[2])
		os.Exit(len(os.Args) - 3)
	}
	os.Exit(m.Run())
}

// drive is a driver that measures nothing and says what its behaviour asks for.
func drive() error {
	client, job, err := driver.Open()
	if err != nil {
		return err
	}
	behave, err := job.Text("behave")
	if err != nil {
		return err
	}
	if log := os.Getenv("ORDER_LOG"); log != "" {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		fmt.Fprintf(f, "%s %s %s %d\n", job.CellID, job.Arm, job.Side, job.Round)
		if err := f.Close(); err != nil {
			return err
		}
	}
	if behave == "exit 3" {
		os.Exit(3)
	}
	if behave == "silent" {
		return nil
	}
	if behave == "hang" {
		time.Sleep(time.Hour)
	}
	if err := client.Hello(driver.Hello{Protocol: driver.ProtocolVersion, Driver: "fake", Versions: map[string]string{"fake": "1"}}); err != nil {
		return err
	}
	switch behave {
	case "killed":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "gives up":
		client.Fail(errors.New("no connection to redis://user:hunter2@host"))
		os.Exit(1)
	case "garbage":
		os.NewFile(driver.FDMessages, "messages").WriteString("\x00\xff not json\n")
	}
	if err := client.Ready(); err != nil {
		return err
	}
	if err := client.WaitGo(); err != nil {
		return err
	}
	if err := client.Begin(); err != nil {
		return err
	}
	began := time.Now()
	n := job.Measure.Operations
	samples := records.Samples{}
	for i := range n {
		samples.StartNs = append(samples.StartNs, i*100)
		samples.LatencyNs = append(samples.LatencyNs, 50+i)
	}
	elapsed := (n-1)*100 + 50 + n - 1
	for int64(time.Since(began)) < elapsed {
	}
	cpu := int64(1000)
	r := driver.Result{
		MeasuredOperations: n, WarmupOperations: job.Warmup.Operations, ElapsedNs: elapsed, Samples: n,
		CPUIntervalNs: &cpu, ClockTickNs: 1, Runtime: map[string]string{"seed": fmt.Sprint(job.Seed), "secret": os.Getenv("DB_PASSWORD")},
	}
	switch behave {
	case "count lies":
		r.MeasuredOperations++
		r.Samples++
	case "errors":
		r.Errors = 2
		r.FirstError = "wrong reply, password=" + os.Getenv("DB_PASSWORD")
	case "negative":
		samples.LatencyNs[1] = -5
	case "short frame":
		samples.StartNs, samples.LatencyNs = samples.StartNs[1:], samples.LatencyNs[1:]
	case "percentile lies":
		r.P99Ns = &n
	case "shouts":
		os.Stderr.Write(bytes.Repeat([]byte("x\x00\x1b[31m\xff"), 4<<20/8))
		fmt.Fprintln(os.Stderr, "the password is", os.Getenv("DB_PASSWORD"))
	case "leaves a daemon":
		daemon := exec.Command("/bin/sleep", "3600")
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := daemon.Start(); err != nil {
			return err
		}
	}
	if err := client.End(r); err != nil {
		return err
	}
	if behave != "no frame" {
		if err := client.WriteSamples(samples); err != nil {
			return err
		}
	}
	if err := client.Done(); err != nil {
		return err
	}
	if err := client.WaitExit(); err != nil {
		return err
	}
	switch behave {
	case "will not exit":
		time.Sleep(time.Hour)
	case "exit 4 at last":
		os.Exit(4)
	}
	return nil
}

// bed is what a collection needs in a test.
type bed struct {
	*testing.T
	dir, log string
}

func newBed(t *testing.T) bed {
	dir := t.TempDir()
	return bed{t, dir, filepath.Join(dir, "order.log")}
}

func (b bed) out() string { return filepath.Join(b.dir, "bundle") }

// plan parses a plan whose arms are this test binary.
func (b bed) plan(behaviours, more string) *plan.Plan {
	b.Helper()
	return b.planWithin("20s", "60s", behaviours, more)
}

// planWithin is for drivers that overrun the limits of a step or a process; the
// others get some that a busy machine keeps too.
func (b bed) planWithin(step, process, behaviours, more string) *plan.Plan {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	source := fmt.Sprintf(`plan: 1
study: fake
arms:
  - {name: callback, label: {en: Callback, zh-CN: 回调}}
  - {name: coroutine}
rounds: 2
pass_env: [DB_PASSWORD, ORDER_LOG]
suites:
  - id: fake
    workload: command
    program: {command: [%q]}
    factors: {behave: %s}
    warmup: {operations: 5}
    measure: {operations: 100}
    step_limit: %s
    time_limit: %s
%s`, self, behaviours, step, process, more)
	p, err := plan.Parse([]byte(source), "fake.yaml")
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func (b bed) options(p *plan.Plan) collect.Options {
	return collect.Options{
		Plan: p, Out: b.out(), ToolVersion: "test",
		Env: []string{"PATH=" + os.Getenv("PATH"), "DB_PASSWORD=" + secret, "ORDER_LOG=" + b.log},
	}
}

const secret = "hunter2-ünsafe/+"

func (b bed) collect(opts collect.Options) collect.Result {
	b.Helper()
	result, err := collect.Run(context.Background(), opts)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// open verifies the bundle and returns its processes.
func (b bed) open() (*bundle.Bundle, []records.Process) {
	b.Helper()
	report, err := bundle.Verify(b.out())
	if err != nil {
		b.Fatal(err)
	}
	if len(report.Findings) > 0 {
		b.Fatalf("verify finds %v", report.Findings)
	}
	sealed, err := bundle.Open(b.out())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sealed.Close() })
	processes, err := sealed.Processes()
	if err != nil {
		b.Fatal(err)
	}
	return sealed, processes
}

func (b bed) lines() []string {
	b.Helper()
	text, err := os.ReadFile(b.log)
	if err != nil {
		b.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
