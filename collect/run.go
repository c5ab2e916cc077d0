package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pairbench/collect/hostinfo"
	"pairbench/collect/plan"
	"pairbench/collect/redact"
	"pairbench/collect/service"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
	"pairbench/records/hashlock"
)

// collection is one run of the loop.
type collection struct {
	opts    Options
	plan    *plan.Plan // narrowed by the selection
	env     []string
	secrets redact.Redactor
	began   time.Time
	private workDir // gone at the end
	work    string  // its path
	// commits are what revisions of repositories stood for when they were first
	// asked for; building is the time that builds took.
	commits  map[string]string
	building time.Duration

	places      []plan.Placement // by suite
	progs       [][2]*program    // by suite, then side
	services    []*records.RunService
	serverPaths map[string]bool
	running     *service.Instance
	runningKey  string

	bundle *bundle.Writer
	run    records.Run
	lock   *hashlock.Lock
	watch  *hostinfo.Watch
	before runTotals
	mapped map[string]bool // programs whose mappings were looked at
	failed int
	// pace compares the guess of the processes measured so far with their time.
	guessed, took time.Duration
}

// runTotals are what earlier sessions of the collection add up to.
type runTotals struct{ elapsedNs, warmupNs, serviceStartNs int64 }

// Run collects a plan into a bundle. It starts nothing before everything that a
// process needs is there, and leaves Out + ".partial" when it is interrupted or
// cannot record. The errors: *plan.SelectionError, *SetupError, *ResumeError,
// *InterruptedError, and those of the bundle and the file system.
func Run(ctx context.Context, opts Options) (Result, error) {
	c := &collection{opts: opts, began: time.Now(), serverPaths: make(map[string]bool), mapped: make(map[string]bool), commits: make(map[string]string)}
	result, err := c.collect(ctx)
	if serr := c.close(); err == nil {
		err = serr
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
			interrupted := &InterruptedError{Err: cause}
			if c.bundle != nil {
				interrupted.Dir, interrupted.Done, interrupted.Total = c.bundle.Dir(), len(c.bundle.Processes()), c.run.PlannedProcesses
			}
			return Result{}, interrupted
		}
		return Result{}, c.secrets.Error(err)
	}
	return result, nil
}

func (c *collection) collect(ctx context.Context) (Result, error) {
	if err := c.prepare(ctx); err != nil {
		return Result{}, err
	}
	if !c.bundle.Complete() {
		pending, err := c.pending()
		if err != nil {
			return Result{}, err
		}
		if err := c.loop(ctx, pending); err != nil {
			return Result{}, err
		}
	}
	return c.seal(ctx)
}

// prepare does all that has to be there before the first process.
func (c *collection) prepare(ctx context.Context) (err error) {
	if c.env = c.opts.Env; c.env == nil {
		c.env = os.Environ()
	}
	if c.opts.FS == nil {
		c.opts.FS = atomicfile.OS{}
	}
	if c.opts.BinDir == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("collect: find the running program: %w", err)
		}
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		c.opts.BinDir = filepath.Dir(self)
	}
	if c.plan, err = c.opts.Plan.Select(c.opts.Selection); err != nil {
		return err
	}
	if err := c.refuseOut(); err != nil {
		return err
	}
	if c.private, err = newWorkDir(os.TempDir()); err != nil {
		return err
	}
	c.work = c.private.path
	if err := c.gatherSecrets(); err != nil {
		return err
	}
	c.placeSuites()
	c.progress(Progress{Phase: "prepare"})
	if err := c.programs(ctx); err != nil {
		return err
	}
	if err := c.tryServices(ctx); err != nil {
		return err
	}
	if c.lock, err = hashlock.Take(ctx, c.roots()); err != nil {
		return err
	}
	facts := c.facts(ctx)
	if c.opts.Resume {
		return c.resume(facts)
	}
	return c.create(facts)
}

// refuseOut finds a name that is taken before the work of preparing.
func (c *collection) refuseOut() error {
	if _, err := os.Lstat(c.opts.Out); err == nil {
		return fmt.Errorf("collect: %s: %w", c.opts.Out, os.ErrExist)
	}
	partial := filepath.Clean(c.opts.Out) + bundle.PartialSuffix
	_, err := os.Lstat(filepath.Join(partial, bundle.RunFile))
	switch {
	case c.opts.Resume && err != nil:
		return fmt.Errorf("collect: resume %s: %w", partial, err)
	case !c.opts.Resume && err == nil:
		return fmt.Errorf("collect: %s: %w: go on with --resume, or remove it", partial, os.ErrExist)
	}
	return nil
}

func (c *collection) placeSuites() {
	allowed := allowedCPUs()
	var watched []int
	c.places = make([]plan.Placement, len(c.plan.Suites))
	for i, s := range c.plan.Suites {
		place, doubt := place(s, allowed)
		if doubt != "" {
			c.warn(doubt)
		}
		if s.BusyThreads > len(allowed) && len(allowed) > 0 {
			c.warn(fmt.Sprintf("suite %s keeps %d threads busy at once, this machine lets it use %d processors", s.ID, s.BusyThreads, len(allowed)))
		}
		c.places[i] = place
		watched = append(watched, place.Client...)
	}
	slices.Sort(watched)
	c.watch = hostinfo.NewWatch(slices.Compact(watched))
}

func (c *collection) facts(ctx context.Context) []records.HostFact {
	facts := append(hostinfo.Facts(ctx), hostinfo.Calibrate()...)
	facts = append(facts, c.calibrateDriver(ctx)...)
	add := func(name, value string) {
		facts = append(facts, records.HostFact{Name: name, Value: &value, Source: "collector"})
	}
	add("collector.gc_during_measurement", "off")
	add("collector.environment_passed", fmt.Sprint(alwaysPassed))
	for i := range facts {
		facts[i].Value = c.secrets.Optional(facts[i].Value)
	}
	return facts
}

func (c *collection) create(facts []records.HostFact) error {
	c.run = c.newRun()
	c.run.ServiceStartNs += c.before.serviceStartNs
	var cells []records.Cell
	for _, s := range c.plan.Suites {
		for _, cell := range s.Cells {
			cells = append(cells, cell.Cell)
		}
	}
	w, err := bundle.Create(c.opts.FS, c.opts.Out, c.plan.Source, c.run, cells)
	if err != nil {
		return err
	}
	c.bundle = w
	if err := w.SetHost(facts); err != nil {
		return err
	}
	return w.SetInputs(c.inputs())
}

// loop runs the pending starts one after another.
func (c *collection) loop(ctx context.Context, pending []plan.Start) error {
	var left time.Duration
	for _, s := range pending {
		left += c.plan.Suites[s.SuiteNo].Expected(c.plan.Suites[s.SuiteNo].Cells[s.CellNo])
	}
	for i, start := range pending {
		if err := ctx.Err(); err != nil {
			return err
		}
		suite := &c.plan.Suites[start.SuiteNo]
		row := c.row(start)
		c.progress(Progress{Phase: "measure", Next: &row, Left: c.paced(left)})
		began := time.Now()
		samples, err := c.process(ctx, start, &row)
		if err != nil {
			return err
		}
		if err := c.bundle.Append(row, samples); err != nil {
			return err
		}
		if row.Outcome != records.OutcomeOK {
			c.failed++
		}
		guess := suite.Expected(suite.Cells[start.CellNo])
		left -= guess
		c.guessed += guess
		c.took += time.Since(began)
		if i+1 == len(pending) {
			c.progress(Progress{Phase: "seal"})
		}
	}
	return nil
}

// paced corrects a guess by how the guesses so far turned out.
func (c *collection) paced(guess time.Duration) time.Duration {
	if c.guessed == 0 {
		return guess
	}
	return time.Duration(float64(guess) * float64(c.took) / float64(c.guessed))
}

// seal hashes everything again and closes the bundle.
func (c *collection) seal(ctx context.Context) (Result, error) {
	if err := c.stopService(); err != nil {
		c.warn(err.Error())
	}
	var findings []string
	if !c.bundle.Complete() {
		var err error
		if findings, err = c.lock.Rehash(ctx); err != nil {
			return Result{}, err
		}
		for i := range findings {
			findings[i] = c.secrets.Text(findings[i])
		}
		if err := c.bundle.SetInputs(c.inputs()); err != nil {
			return Result{}, err
		}
		c.run.Lock = c.lock.State()
		for _, gap := range c.lock.Gaps() {
			c.run.LockGaps = append(c.run.LockGaps, c.secrets.Text(gap))
		}
		c.run.EndedAt = time.Now().UTC()
		c.addUp()
	}
	processes := c.bundle.Processes()
	identity, err := c.bundle.Seal(c.run)
	if err != nil {
		return Result{}, err
	}
	result := Result{Dir: filepath.Clean(c.opts.Out), Identity: identity, Run: c.bundle.Run(), LockFindings: findings}
	for _, p := range processes {
		if p.Outcome == records.OutcomeOK {
			continue
		}
		f := Failure{ProcessNo: p.ProcessNo, ProcessID: p.ProcessID, Outcome: p.Outcome}
		if p.OutcomeDetail != nil {
			f.Detail = *p.OutcomeDetail
		}
		result.Failed = append(result.Failed, f)
	}
	return result, nil
}

// addUp brings the run's totals up to this moment. Building the arms is no part
// of the collection's time.
func (c *collection) addUp() {
	c.run.ElapsedNs = c.before.elapsedNs + (time.Since(c.began) - c.building).Nanoseconds()
}

// close stops what runs and removes what is private. What an interrupted
// collection has taken so far is kept in run.json.
func (c *collection) close() error {
	var errs []error
	if err := c.stopService(); err != nil {
		errs = append(errs, err)
	}
	if c.bundle != nil {
		if _, err := os.Lstat(c.bundle.Dir()); err == nil && !c.bundle.Complete() {
			c.addUp()
			if err := c.bundle.SetRun(c.run); err != nil {
				errs = append(errs, err)
			}
		}
		c.bundle.Close()
	}
	if err := c.private.remove(); err != nil {
		errs = append(errs, fmt.Errorf("collect: remove the private directory: %w", err))
	}
	return errors.Join(errs...)
}

// removeAll removes a tree in which a build may have left directories that are
// not writable.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

func (c *collection) progress(p Progress) {
	if c.opts.Progress == nil {
		return
	}
	if c.bundle != nil {
		p.Done, p.Failed = len(c.bundle.Processes()), c.failed
	}
	p.Total = c.run.PlannedProcesses
	if p.Total == 0 && c.plan != nil {
		p.Total = c.plan.Estimate().Processes
	}
	p.Elapsed = time.Since(c.began)
	c.opts.Progress(p)
}

func (c *collection) warn(line string) {
	if c.opts.Warn != nil {
		c.opts.Warn(c.secrets.Text(line))
	}
}
