package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"pairbench/collect/driver"
	"pairbench/collect/hostinfo"
	"pairbench/collect/plan"
	"pairbench/collect/proc"
	"pairbench/collect/service"
	"pairbench/records"
)

// keptOutput bounds how much of each output stream a row holds.
const keptOutput = 64 << 10

// maxDetail bounds the line that says why an outcome is not ok.
const maxDetail = 1000

// attempt is one process while it runs.
type attempt struct {
	c       *collection
	start   plan.Start
	suite   plan.Suite
	cell    plan.Cell
	prog    *program
	row     *records.Process
	dir     string
	spec    proc.Spec
	job     driver.Job
	serving *service.Instance

	process  *proc.Process
	snapshot *proc.Snapshot
	hello    driver.Hello
	result   *driver.Result
	samples  *records.Samples
	interval *int64
}

// process runs one start and fills in its row. What the process did wrong is in
// the row; the error means that the collection cannot go on.
func (c *collection) process(ctx context.Context, start plan.Start, row *records.Process) (*records.Samples, error) {
	a := &attempt{c: c, start: start, suite: c.plan.Suites[start.SuiteNo], row: row, prog: c.prog(start)}
	a.cell = a.suite.Cells[start.CellNo]
	if a.suite.Service != nil {
		serving, err := c.serve(ctx, start.SuiteNo)
		if err != nil {
			return nil, err
		}
		a.serving = serving
		if cpus := proc.FormatCPUs(serving.CPUs); cpus != "" {
			row.ServerCPUs = &cpus
		}
	}
	a.dir = filepath.Join(c.work, fmt.Sprintf("process-%07d", row.ProcessNo))
	if err := os.Mkdir(a.dir, 0o700); err != nil {
		return nil, fmt.Errorf("collect process %d: %w", row.ProcessNo, err)
	}
	defer os.RemoveAll(a.dir)
	if err := a.prepare(); err != nil {
		return nil, fmt.Errorf("collect process %d: %w", row.ProcessNo, err)
	}
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	return a.samples, nil
}

func (c *collection) prog(start plan.Start) *program {
	if start.Side == records.SideB {
		return c.progs[start.SuiteNo][1]
	}
	return c.progs[start.SuiteNo][0]
}

// prepare writes the job and puts the argument vector together.
func (a *attempt) prepare() error {
	c, arm := a.c, a.c.acting(a.start.Side)
	values := placeholderValues{cell: a.cell, suite: a.suite.ID, arm: arm.Name}
	if a.serving != nil {
		values.address = a.serving.Service.Address
	}
	var argv []string
	if a.prog.path != "" {
		argv = append(argv, a.prog.path)
	}
	for _, argument := range a.prog.args { // every process expands them anew
		expanded, err := c.expand(argument, a.start, values)
		if err != nil {
			return fmt.Errorf("argument %d: %w", len(argv), err)
		}
		argv = append(argv, expanded)
	}
	place := c.places[a.start.SuiteNo]
	env := c.environment(arm)
	if a.serving != nil {
		env = append(env, a.serving.Env()...)
	}
	a.spec = proc.Spec{
		Argv: argv, Env: env, StdoutPath: filepath.Join(a.dir, "stdout"), StderrPath: filepath.Join(a.dir, "stderr"),
		CPUs: place.Client, TimeLimit: a.suite.TimeLimit + a.cell.Warmup.Duration + a.cell.Measure.Duration,
		Protocol: a.prog.read == nil, RSS: proc.RSSAtSnapshot,
	}
	if a.prog.read != nil {
		a.spec.RSS = proc.RSSAtExit
	}
	a.row.Argv = c.argvJSON(argv)
	if a.prog.read != nil {
		return nil
	}
	a.job = a.makeJob(arm, place)
	path := filepath.Join(a.dir, "job.json")
	a.spec.Env = append(a.spec.Env, driver.JobEnv+"="+path)
	return driver.WriteJob(path, a.job)
}

func (a *attempt) makeJob(arm plan.Arm, place plan.Placement) driver.Job {
	job := driver.Job{
		Protocol: driver.ProtocolVersion, ProcessNo: a.row.ProcessNo, ProcessID: a.row.ProcessID,
		Suite: a.suite.ID, CellID: a.cell.CellID, Arm: arm.Name, Side: a.row.Side, Round: a.row.Round,
		Workload: a.suite.Workload, Factors: make(map[string]any), Settings: make(map[string]any),
		Warmup:              driver.Amount{Operations: a.cell.Warmup.Operations, DurationNs: a.cell.Warmup.Duration.Nanoseconds()},
		Measure:             driver.Amount{Operations: a.cell.Measure.Operations, DurationNs: a.cell.Measure.Duration.Nanoseconds()},
		OperationsPerSample: a.cell.OperationsPerSample, ClientCPUs: place.Client,
		Seed: a.c.seed(a.suite.ID, a.cell.CellID, a.row.Round),
	}
	for _, f := range a.cell.Factors {
		switch v := f.Value; v.Kind {
		case records.FactorInt:
			job.Factors[f.Name] = v.Int
		case records.FactorFloat:
			job.Factors[f.Name] = v.Float
		case records.FactorBool:
			job.Factors[f.Name] = v.Bool
		default:
			job.Factors[f.Name] = v.Str
		}
	}
	for _, settings := range []map[string]any{a.suite.Settings, arm.Settings} {
		for name, v := range settings {
			job.Settings[name] = v
		}
	}
	if a.serving != nil {
		answer := a.serving.Service
		job.Service = &answer
	}
	return job
}

// run starts the process, speaks with it, and fills in the row.
func (a *attempt) run(ctx context.Context) error {
	before := a.c.watch.Snapshot()
	var startError *proc.StartError
	var err error
	a.process, err = proc.Start(a.spec)
	if errors.As(err, &startError) {
		a.row.Start(time.Now())
		a.fail(records.OutcomeStartFailed, startError.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("collect process %d: %w", a.row.ProcessNo, err)
	}
	defer a.process.Close()
	var said error
	if a.spec.Protocol {
		said = a.converse(ctx)
	}
	exit := a.wait(ctx, said)
	hostinfo.Between(before, a.c.watch.Snapshot()).Record(a.row)
	if err := ctx.Err(); err != nil {
		return err
	}
	if exit.Remaining > 0 {
		return fmt.Errorf("collect process %d: %d processes that it left cannot be ended, and the host is not clean any more", a.row.ProcessNo, exit.Remaining)
	}
	if exit.NoRoom != nil {
		return fmt.Errorf("collect process %d: no room for what it writes: %w", a.row.ProcessNo, exit.NoRoom)
	}
	a.fillExit(exit)
	if err := a.fillOutput(); err != nil {
		return err
	}
	if a.spec.Protocol {
		said = a.takeSamples(said)
		a.fillResult()
		a.judge(said, exit)
	} else {
		a.readNumbers(exit)
	}
	return nil
}

// converse takes the process through the protocol up to exit. Between go and
// end this program does nothing: it sleeps in one read, and its garbage
// collector is off.
func (a *attempt) converse(ctx context.Context) error {
	limits := driver.Limits{Step: a.suite.StepLimit, Warmup: a.limit(a.cell.Warmup), Measure: a.limit(a.cell.Measure)}
	s := driver.NewSession(a.process.Messages(), a.process.Commands(), a.process.Samples(), limits)
	defer func() {
		if ready, ok := a.at(s, driver.TypeReady); ok {
			a.row.ReadyNs = &ready
			if hello, ok := a.at(s, driver.TypeHello); ok {
				a.c.run.WarmupNs += ready - hello
			}
		}
		if took, ok := s.Elapsed(driver.CommandGo, driver.TypeEnd); ok {
			ns := took.Nanoseconds()
			a.interval = &ns
		}
	}()
	var err error
	if a.hello, err = s.Hello(ctx); err != nil {
		return err
	}
	if err := s.Ready(ctx); err != nil {
		return err
	}
	a.lookAtMappings()
	result, err := a.measure(ctx, s)
	if err != nil {
		return err
	}
	a.result = &result
	if err := s.Done(ctx); err != nil {
		return err
	}
	if snapshot, err := a.process.Snapshot(); err == nil {
		a.snapshot = &snapshot
	}
	return s.Exit(ctx)
}

func (a *attempt) measure(ctx context.Context, s *driver.Session) (driver.Result, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if err := s.Go(ctx); err != nil {
		return driver.Result{}, err
	}
	if err := s.Begin(ctx); err != nil {
		return driver.Result{}, err
	}
	return s.End(ctx)
}

// limit is the time that an amount may take beyond the step's own limit.
func (a *attempt) limit(amount plan.Amount) time.Duration {
	if amount.Operations > 0 {
		return a.suite.TimeLimit
	}
	return amount.Duration
}

func (a *attempt) at(s *driver.Session, step string) (int64, bool) {
	for _, done := range s.Steps() {
		if done.Name == step {
			return done.AtNs, true
		}
	}
	return 0, false
}

// lookAtMappings finds libraries that a program opened by itself, once for each
// program, while it waits for go.
func (a *attempt) lookAtMappings() {
	key := a.prog.path + string(a.start.Side) + a.suite.ID
	if a.c.mapped[key] {
		return
	}
	a.c.mapped[key] = true
	// A process that is gone by now shows up in its outcome.
	_ = a.c.lock.AddMappings(a.process.Pid(), a.lockSide())
}

// lockSide is the arm that the lock books a program under; none when both arms
// run it.
func (a *attempt) lockSide() records.Side {
	pair := a.c.progs[a.start.SuiteNo]
	if pair[0].path == pair[1].path {
		return ""
	}
	return a.start.Side
}

// wait sees the process out. After a broken conversation it is ended, except
// that one which left by itself is given the time to say its exit code.
func (a *attempt) wait(ctx context.Context, said error) proc.Exit {
	var broken *driver.ProtocolError
	switch {
	case !a.spec.Protocol:
		return a.process.Wait(ctx)
	case said == nil, errors.As(said, &broken) && broken.Left, isDriverError(said):
	default:
		a.process.End()
		return a.process.Wait(ctx)
	}
	step, cancel := context.WithTimeout(ctx, a.suite.StepLimit)
	defer cancel()
	return a.process.Wait(step)
}

func isDriverError(err error) bool {
	var stated *driver.DriverError
	return errors.As(err, &stated)
}

// takeSamples reads the frame once the process is gone.
func (a *attempt) takeSamples(said error) error {
	if said != nil || a.result == nil {
		return said
	}
	s := driver.NewSession(nil, nil, a.process.Samples(), driver.Limits{})
	samples, err := s.Samples(maxSamples(*a.result))
	if errors.Is(err, driver.ErrNoFrame) && a.result.Samples == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	samples.ProcessNo = a.row.ProcessNo
	samples.ClockTickNs = a.result.ClockTickNs
	a.samples = &samples
	return nil
}

// maxSamples bounds the memory for a frame: what the driver says, and a little
// more, so that a lie is told by its number.
func maxSamples(r driver.Result) int64 {
	const most = 100_000_000
	return min(max(r.Samples, 0)*2+1000, most)
}

// judge settles the outcome. What ended the process comes first, then what it
// said, then what it left.
func (a *attempt) judge(said error, exit proc.Exit) {
	var broken *driver.ProtocolError
	left := errors.As(said, &broken) && broken.Left
	switch {
	case exit.Cause == proc.CauseTimeLimit:
		a.fail(records.OutcomeTimeout, fmt.Sprintf("still running after %v", a.spec.TimeLimit))
	case exit.Cause == proc.CauseOutputLimit, exit.Cause == proc.CauseSampleLimit:
		a.fail(records.OutcomeProtocolError, "wrote more than the limit: "+strings.ReplaceAll(string(exit.Cause), "_", " "))
	case said == nil && exit.Cause == proc.CauseCancelled:
		a.fail(records.OutcomeTimeout, fmt.Sprintf("did not exit within %v of the exit command", a.suite.StepLimit))
	case (said == nil || left) && exit.Signal != nil:
		a.fail(records.OutcomeSignalled, fmt.Sprintf("signal %d ended it%s", *exit.Signal, during(broken)))
	case (said == nil || left) && exit.ExitCode != nil && *exit.ExitCode != 0:
		a.fail(records.OutcomeExitNonzero, fmt.Sprintf("exit code %d%s", *exit.ExitCode, during(broken)))
	case said != nil:
		detail := said.Error()
		if left && broken.Step == driver.TypeHello {
			detail += "; a program that does not speak the driver protocol needs read in the plan"
		}
		a.fail(driver.OutcomeOf(said), detail)
	default:
		seen := driver.Observed{IntervalNs: a.interval}
		if a.snapshot != nil {
			seen.CPUProcessNs = a.snapshot.CPUNs
			if a.snapshot.Peak != nil {
				seen.PeakRSSBytes = &a.snapshot.Peak.Bytes
			}
		}
		outcome, detail := driver.Check(a.job, *a.result, a.samples, seen)
		if outcome != records.OutcomeOK {
			a.fail(outcome, detail)
		} else {
			a.finish(exit)
		}
	}
	if a.samples != nil && !recordable(*a.samples) {
		a.samples = nil
	}
}

// finish gives a process that did everything right its outcome.
func (a *attempt) finish(exit proc.Exit) {
	if exit.Leftovers != nil && *exit.Leftovers > 0 {
		a.fail(records.OutcomeLeftover, fmt.Sprintf("left %d processes running: %s", *exit.Leftovers, strings.Join(exit.LeftoverNames, ", ")))
		return
	}
	a.row.Outcome = records.OutcomeOK
}

func during(broken *driver.ProtocolError) string {
	if broken == nil {
		return ""
	}
	return " while the collector waited for " + broken.Step
}

func (a *attempt) fail(outcome records.Outcome, detail string) {
	detail = oneLine([]byte(a.c.secrets.Text(detail)))
	if len(detail) > maxDetail {
		detail = strings.ToValidUTF8(detail[:maxDetail], "") + "…"
	}
	if detail == "" {
		detail = string(outcome)
	}
	a.row.Outcome, a.row.OutcomeDetail = outcome, &detail
}

// recordable reports whether samples can be stored at all; the checks have named
// what is wrong with those that cannot.
func recordable(s records.Samples) bool {
	if len(s.StartNs) != s.Len() || s.ScheduledNs != nil && len(s.ScheduledNs) != s.Len() || s.Len() == 0 {
		return false
	}
	for i := range s.LatencyNs {
		if s.StartNs[i] < 0 || s.LatencyNs[i] < 0 || s.ScheduledNs != nil && s.ScheduledNs[i] < 0 {
			return false
		}
	}
	return true
}
