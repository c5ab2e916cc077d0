package collect

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"pairbench/collect/plan"
	"pairbench/records"
	"pairbench/records/digest"
	"pairbench/records/hashlock"
)

// newRun writes down what the plan says, for run.json.
func (c *collection) newRun() records.Run {
	p := c.plan
	run := records.Run{
		SchemaVersion: records.SchemaVersion, ToolVersion: c.opts.ToolVersion,
		Study: p.Study, PlanSHA256: p.SHA256, Profile: p.Profile, Layout: p.Layout,
		Origin: "collected", Title: p.Title, Rounds: p.Rounds, Order: p.Order, AA: c.opts.AA,
		Selection: c.opts.Selection.Flags(), Shard: c.opts.Selection.Shard,
		StartedAt: c.began.UTC(), PlannedProcesses: p.Estimate().Processes, Lock: "incomplete",
		ServiceStartNs: c.run.ServiceStartNs,
	}
	if len(run.Selection) == 0 {
		run.Selection = nil
	}
	for i, arm := range p.Arms {
		run.Arms[i] = records.RunArm{Side: arm.Side, Name: arm.Name, Label: arm.Label}
		c.identifyArm(&run.Arms[i], i)
	}
	for i, s := range p.Suites {
		profile := s.Profile
		if profile == "" {
			profile = p.Profile
		}
		run.Suites = append(run.Suites, records.RunSuite{
			ID: s.ID, Title: s.Title, Profile: profile, Workload: s.Workload, Panel: s.Panel, Factors: s.Factors,
			Metrics: s.Metrics, CPUScope: s.CPUScope, CPUCovers: s.CPUCovers, LatencyCovers: s.LatencyCovers,
			Service: c.services[i], Notes: s.Notes,
		})
	}
	return run
}

// identifyArm fills in what the arm was built from, where its suites agree on
// it and the arms differ.
func (c *collection) identifyArm(arm *records.RunArm, side int) {
	first := c.progs[0][side]
	for _, p := range c.progs {
		if p[side].sha256 != first.sha256 || p[side].revision != first.revision {
			return
		}
	}
	if first.revision != "" {
		revision := first.revision
		arm.Revision = &revision
	}
	if !first.sha256.IsZero() && first.sha256 != c.progs[0][1-side].sha256 {
		hex := first.sha256.String()
		arm.Digest = &hex
	}
}

// roots are what the hash lock follows.
func (c *collection) roots() []hashlock.Root {
	var roots []hashlock.Root
	used := make(map[string][2]bool)
	trees := make(map[string][2]bool)
	env := make(map[string][]string)
	for _, pair := range c.progs {
		for k, p := range pair {
			mark := func(m map[string][2]bool, key string) {
				if key != "" {
					sides := m[key]
					sides[k] = true
					m[key] = sides
				}
			}
			mark(used, p.path)
			mark(trees, p.tree)
			if p.path != "" {
				env[p.path] = c.environment(c.plan.Arms[k])
			}
		}
	}
	side := func(sides [2]bool) records.Side {
		switch sides {
		case [2]bool{true, false}:
			return records.SideA
		case [2]bool{false, true}:
			return records.SideB
		}
		return ""
	}
	for _, path := range slices.Sorted(maps.Keys(used)) {
		roots = append(roots, hashlock.Root{Kind: hashlock.KindBinary, Name: path, Path: path, Side: side(used[path]), Env: env[path]})
	}
	for _, path := range slices.Sorted(maps.Keys(trees)) {
		roots = append(roots, hashlock.Root{Kind: hashlock.KindSourceTree, Name: path, Path: path, Side: side(trees[path])})
	}
	for _, path := range slices.Sorted(maps.Keys(c.serverPaths)) {
		roots = append(roots, hashlock.Root{Kind: hashlock.KindService, Name: path, Path: path})
	}
	return roots
}

// inputs are the lock's rows as they are written: with the plan, without
// secrets, and with the private directory, which is another one each time, under
// a name that stays.
func (c *collection) inputs() []records.Input {
	size := int64(len(c.plan.Source))
	sha, path := c.plan.SHA256, "data/plan.yaml"
	out := []records.Input{{
		Kind: hashlock.KindPlan, Name: c.plan.Study, Path: &path, Bytes: &size, SHA256: &sha, SHA256After: &sha, ResolvedBy: "bundle",
	}}
	clean := func(s *string) *string {
		if s == nil {
			return nil
		}
		v := c.secrets.Text(strings.ReplaceAll(*s, c.work, "{work}"))
		return &v
	}
	for _, in := range c.lock.Inputs() {
		in.Name = *clean(&in.Name)
		in.Path, in.Value, in.RequiredBy, in.Gap = clean(in.Path), clean(in.Value), clean(in.RequiredBy), clean(in.Gap)
		out = append(out, in)
	}
	return out
}

// row is what is known of a process before it starts.
func (c *collection) row(start plan.Start) records.Process {
	suite := c.plan.Suites[start.SuiteNo]
	cell := suite.Cells[start.CellNo]
	arm := c.arm(start.Side)
	none := digest.Sum(nil).String()
	return records.Process{
		ProcessNo: start.ProcessNo, ProcessID: fmt.Sprintf("%s/%s/%s/r%d", suite.ID, cell.CellID, arm.Name, start.Round),
		Suite: suite.ID, CellID: cell.CellID, Arm: arm.Name, Side: start.Side, Round: start.Round,
		Slot: start.Slot, FirstInPair: start.FirstInPair, Argv: "[]", StdoutSHA256: none, StderrSHA256: none,
	}
}

func (c *collection) arm(side records.Side) plan.Arm {
	if side == records.SideB {
		return c.plan.Arms[1]
	}
	return c.plan.Arms[0]
}

// acting is the arm that a side really runs: under --aa both run A's.
func (c *collection) acting(side records.Side) plan.Arm {
	if c.opts.AA {
		return c.plan.Arms[0]
	}
	return c.arm(side)
}

// seed is the same for both sides of a pair and differs between pairs.
func (c *collection) seed(suite, cell string, round int32) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d", c.plan.SHA256, suite, cell, round)
	return int64(h.Sum64() >> 1)
}

// argvJSON is the redacted argument vector as the column holds it.
func (c *collection) argvJSON(argv []string) string {
	clean := c.secrets.Argv(argv)
	for i := range clean {
		clean[i] = strings.ReplaceAll(clean[i], c.work, "{work}")
	}
	text, err := json.Marshal(clean)
	if err != nil {
		return "[]"
	}
	return string(text)
}

// textMap is a map as a JSON object, redacted; absent when empty.
func (c *collection) textMap(sources ...map[string]string) *string {
	all := make(map[string]string)
	for _, m := range sources {
		for k, v := range m {
			all[c.secrets.Text(k)] = c.secrets.Text(v)
		}
	}
	if len(all) == 0 {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	s := string(text)
	return &s
}
