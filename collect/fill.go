package collect

import (
	"fmt"

	"pairbench/collect/proc"
	"pairbench/records"
)

// fillExit writes what the system tells of a process that has ended.
func (a *attempt) fillExit(exit proc.Exit) {
	row := a.row
	row.Start(exit.StartedAt)
	row.ExitCode, row.Signal, row.Leftovers = exit.ExitCode, exit.Signal, exit.Leftovers
	row.ProcessWallNs, row.ProcessCPUNs = ptr(exit.WallNs), ptr(exit.CPUNs)
	row.CPUUserNs, row.CPUSystemNs = ptr(exit.CPUUserNs), ptr(exit.CPUSystemNs)
	row.VoluntarySwitches, row.InvoluntarySwitches = ptr(exit.VoluntarySwitches), ptr(exit.InvoluntarySwitches)
	row.MajorFaults = ptr(exit.MajorFaults)
	if exit.Peak != nil {
		row.PeakRSSBytes, row.RSSFloorBytes = ptr(exit.Peak.Bytes), ptr(exit.Peak.FloorBytes)
		row.PeakRSSSource = ptr(exit.Peak.Source)
	}
	// A process that was pinned and spoke no protocol ran where it was pinned: its
	// start fails otherwise.
	held := a.spec.CPUs
	if a.snapshot != nil {
		held = a.snapshot.CPUs
	}
	if cpus := proc.FormatCPUs(held); cpus != "" {
		row.ClientCPUs = &cpus
	}
}

// fillOutput writes what the process wrote, redacted.
func (a *attempt) fillOutput() error {
	for _, stream := range []struct {
		path      string
		head      *[]byte
		bytes     *int64
		sum       *string
		truncated *bool
	}{
		{a.spec.StdoutPath, &a.row.Stdout, &a.row.StdoutBytes, &a.row.StdoutSHA256, &a.row.StdoutTruncated},
		{a.spec.StderrPath, &a.row.Stderr, &a.row.StderrBytes, &a.row.StderrSHA256, &a.row.StderrTruncated},
	} {
		out, err := proc.ReadOutput(stream.path, keptOutput, a.c.secrets.Reader)
		if err != nil {
			return fmt.Errorf("collect process %d: %w", a.row.ProcessNo, err)
		}
		*stream.head, *stream.bytes, *stream.sum, *stream.truncated = out.Head, out.Bytes, out.SHA256, out.Truncated
	}
	return nil
}

// fillResult writes what the driver said, as it said it: the outcome tells
// whether to believe it. Negative numbers are no numbers of these columns.
func (a *attempt) fillResult() {
	row, r := a.row, a.result
	versions := map[string]string{"driver_name": a.hello.Driver}
	if a.hello.Driver == "" {
		versions = nil
	}
	if said := a.c.services[a.start.SuiteNo]; said != nil && said.Version != "" {
		if versions == nil {
			versions = make(map[string]string)
		}
		versions["service"] = said.Version
	}
	if r == nil {
		row.Versions = a.c.textMap(a.hello.Versions, versions)
		return
	}
	row.Versions = a.c.textMap(a.hello.Versions, r.Versions, versions)
	row.Runtime = a.c.textMap(r.Runtime)
	row.MeasuredOperations, row.WarmupOperations = counted(&r.MeasuredOperations), counted(&r.WarmupOperations)
	row.Errors, row.Incomplete, row.WarmupErrors = counted(&r.Errors), counted(&r.Incomplete), counted(&r.WarmupErrors)
	row.MissedTicks, row.ElapsedNs = counted(r.MissedTicks), counted(&r.ElapsedNs)
	row.StatedLatencyP50Ns, row.StatedLatencyP99Ns = counted(r.P50Ns), counted(r.P99Ns)
	if row.ClientCPUs == nil && r.ClientCPUs != "" {
		row.ClientCPUs = a.c.secrets.Optional(&r.ClientCPUs)
	}
	a.fillCPU(counted(r.CPUIntervalNs), row.ElapsedNs)
}

// fillCPU writes the CPU time over the suite's scope; intervalNs is absent when
// nobody measured it.
func (a *attempt) fillCPU(intervalNs, elapsedNs *int64) {
	scope := a.suite.CPUScope
	switch {
	case scope == records.CPUScopeProcess:
		a.row.CPUNs, a.row.CPUWallNs, a.row.CPUScope = a.row.ProcessCPUNs, a.row.ProcessWallNs, &scope
	case intervalNs != nil && elapsedNs != nil:
		a.row.CPUNs, a.row.CPUWallNs, a.row.CPUScope = intervalNs, elapsedNs, &scope
	}
}

func counted(v *int64) *int64 {
	if v == nil || *v < 0 {
		return nil
	}
	return ptr(*v)
}

func ptr[T any](v T) *T { return &v }
