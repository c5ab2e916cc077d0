package collect

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"pairbench/collect/hostinfo"
	"pairbench/collect/plan"
	"pairbench/records"
	"pairbench/records/bundle"
	"pairbench/records/hashlock"
)

// resume opens an unfinished bundle and refuses to go on unless plan, selection,
// inputs and host are what they were.
func (c *collection) resume(facts []records.HostFact) error {
	w, err := bundle.Resume(c.opts.FS, c.opts.Out)
	if err != nil {
		return err
	}
	c.bundle = w
	before, now := w.Run(), c.newRun()
	differences := differentRun(before, now)
	if !bytes.Equal(w.Plan(), c.plan.Source) {
		differences = append(differences, fmt.Sprintf("plan: sha256 was %s, is %s", before.PlanSHA256, c.plan.SHA256))
	}
	if len(w.Inputs()) > 0 {
		differences = append(differences, hashlock.Diff(w.Inputs(), c.inputs())...)
	}
	if len(w.Host()) > 0 {
		differences = append(differences, hostinfo.Diff(w.Host(), facts)...)
	}
	if len(differences) > 0 {
		c.run = before
		return &ResumeError{Dir: w.Dir(), Differences: differences}
	}
	serviceStart := c.run.ServiceStartNs
	c.run = before
	if w.Complete() {
		return nil
	}
	c.run.Resumes++
	c.before = c.former(w.Processes())
	c.run.WarmupNs = c.before.warmupNs
	c.run.ServiceStartNs = c.before.serviceStartNs + serviceStart
	// An earlier session that was killed before it wrote them leaves these to
	// this one; else they stay as they were, before the first process.
	if len(w.Host()) == 0 {
		if err := w.SetHost(facts); err != nil {
			return err
		}
	}
	c.lock.Keep(w.Inputs())
	if err := w.SetInputs(c.inputs()); err != nil {
		return err
	}
	return w.SetRun(c.run)
}

// former adds up earlier sessions. One that was killed could not write its own
// time down; its processes' time then stands for it, and is a lower bound.
func (c *collection) former(done []records.Process) runTotals {
	t := runTotals{c.run.ElapsedNs, c.run.WarmupNs, c.run.ServiceStartNs}
	var wall, warm int64
	for _, p := range done {
		if p.ProcessWallNs != nil {
			wall += *p.ProcessWallNs
		}
		if p.ReadyNs != nil {
			warm += *p.ReadyNs
		}
	}
	if t.elapsedNs < wall {
		t.elapsedNs, t.warmupNs = wall, warm
	}
	return t
}

func differentRun(before, now records.Run) []string {
	var out []string
	differ := func(what string, was, is any) {
		if a, b := fmt.Sprint(was), fmt.Sprint(is); a != b {
			out = append(out, fmt.Sprintf("%s: was %s, is %s", what, a, b))
		}
	}
	differ("study", before.Study, now.Study)
	differ("--aa", before.AA, now.AA)
	names := slices.Collect(maps.Keys(before.Selection))
	for name := range now.Selection {
		if _, ok := before.Selection[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		differ("--"+name, orNone(before.Selection[name]), orNone(now.Selection[name]))
	}
	if len(names) == 0 || len(out) == 0 {
		differ("processes", before.PlannedProcesses, now.PlannedProcesses)
	}
	for i := range min(len(before.Suites), len(now.Suites)) {
		was, is := before.Suites[i].Service, now.Suites[i].Service
		if was != nil && is != nil {
			differ("service "+is.Name+" mode", was.Mode, is.Mode)
			differ("service "+is.Name+" version", was.Version, is.Version)
			differ("service "+is.Name+" address", was.Address, is.Address)
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "not given"
	}
	return s
}

// pending lists the starts that are still to run, in the order of the plan. A
// pair of which only one process is recorded is run again as a pair: what is
// there of it is removed first.
func (c *collection) pending() ([]plan.Start, error) {
	done := make(map[int32]records.Process)
	for _, p := range c.bundle.Processes() {
		done[p.ProcessNo] = p
	}
	var pending []plan.Start
	starts := c.plan.Starts()
	for i := 0; i < len(starts); i += 2 {
		pair := starts[i : i+2]
		var there []int32
		for _, s := range pair {
			if _, ok := done[s.ProcessNo]; ok {
				there = append(there, s.ProcessNo)
			}
		}
		if len(there) == 2 {
			continue
		}
		for _, no := range there {
			if err := c.bundle.Remove(no); err != nil {
				return nil, err
			}
			delete(done, no)
		}
		pending = append(pending, pair...)
	}
	c.number(done, pending)
	return pending, nil
}

// number gives the pending starts their slots behind those that are recorded:
// slots are the order in which processes really ran.
func (c *collection) number(done map[int32]records.Process, pending []plan.Start) {
	var last int32
	c.failed = 0
	for _, p := range done {
		last = max(last, p.Slot)
		if p.Outcome != records.OutcomeOK {
			c.failed++
		}
	}
	for i := range pending {
		last++
		pending[i].Slot = last
	}
}
