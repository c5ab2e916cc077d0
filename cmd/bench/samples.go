package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"pairbench/analyze/stat"
	"pairbench/records"
	"pairbench/records/atomicfile"
	"pairbench/records/bundle"
	"pairbench/records/digest"
	"pairbench/records/parquetfile"
)

// sides are the subcommands that measure pairbench's packages in a process of
// their own.
var sides = map[string]func(args []string) error{
	"write":       writeSide,
	"percentiles": percentilesSide,
	"merge":       mergeSide,
	"generate":    generateSide,
}

// sampleFlags are those that the sides share.
type sampleFlags struct {
	*flag.FlagSet
	processes, samples, threads *int
	verify                      *bool
}

func newFlags(name string) sampleFlags {
	f := flag.NewFlagSet(name, flag.ExitOnError)
	return sampleFlags{f, f.Int("processes", 96, ""), f.Int("samples", 208_000, ""), f.Int("threads", 1, ""), f.Bool("sha256", false, "")}
}

// fill makes the samples of one process, whose latencies look like those of a
// closed loop over loopback: a lognormal body around 60 us in steps of a
// nanosecond, one in a thousand ten times as slow, starts that follow one
// another.
func fill(s *records.Samples, processNo int32) {
	random := rand.New(rand.NewPCG(6, uint64(processNo)))
	s.ProcessNo = processNo
	at := int64(0)
	for i := range s.LatencyNs {
		latency := 60_000 * math.Exp(0.18*random.NormFloat64())
		if random.Uint32N(1000) == 0 {
			latency *= 10
		}
		s.StartNs[i], s.LatencyNs[i] = at, int64(latency)
		at += s.LatencyNs[i] + 300 + int64(random.Uint32N(128))
	}
}

func newSamples(n int) *records.Samples {
	return &records.Samples{StartNs: make([]int64, n), LatencyNs: make([]int64, n), ClockTickNs: 1}
}

func meta(no int32) records.SampleMeta {
	return records.SampleMeta{ProcessNo: no, ProcessID: fmt.Sprintf("bench/%d", no), Suite: "bench", CellID: "cell", Arm: "a", Side: records.SideA, Round: 1, ClockTickNs: 1}
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func printFigures(f figures) error { return json.NewEncoder(os.Stdout).Encode(f) }

// writeSide writes the samples of each process to DIR/N.parquet. Only the
// writing is timed, the making of samples is not.
func writeSide(args []string) error {
	f := newFlags("write")
	_ = f.Parse(args)
	var w parquetfile.SampleWriter
	s := newSamples(*f.samples)
	var spent time.Duration
	var bytes, rows int64
	for no := int32(1); no <= int32(*f.processes); no++ {
		fill(s, no)
		file, err := os.Create(filepath.Join(f.Arg(0), fmt.Sprintf("%d.parquet", no)))
		if err != nil {
			return err
		}
		start := cpu()
		written, err := w.Write(file, meta(no), *s)
		if err == nil {
			err = file.Close()
		}
		spent += cpu() - start
		if err != nil {
			return err
		}
		bytes, rows = bytes+written.Bytes, rows+written.Rows
	}
	return printFigures(figures{"rate": float64(rows) / spent.Seconds(), "bytes": float64(bytes) / float64(rows)})
}

// mergeSide merges FILE... into OUT.
func mergeSide(args []string) error {
	f := newFlags("merge")
	_ = f.Parse(args)
	os.Remove(f.Arg(0))
	startCPU, start := cpu(), time.Now()
	out, err := os.Create(f.Arg(0))
	if err != nil {
		return err
	}
	m := parquetfile.NewMerger(out)
	for _, name := range f.Args()[1:] {
		if err := mergeFile(m, name); err != nil {
			return err
		}
	}
	if err := m.Close(); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return printFigures(figures{"in_cpu_s": (cpu() - startCPU).Seconds(), "in_wall_s": time.Since(start).Seconds()})
}

func mergeFile(m *parquetfile.Merger, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return m.Add(file, info.Size())
}

var asked = []stat.Percentile{stat.P50, stat.P90, stat.P99, stat.P999, stat.Max}

// percentilesSide computes five exact percentiles of every process of a merged
// file. Their sum goes out too: the other side must have the same.
func percentilesSide(args []string) error {
	f := newFlags("percentiles")
	_ = f.Parse(args)
	runtime.GOMAXPROCS(*f.threads)
	startCPU, start := cpu(), time.Now()
	if *f.verify {
		if _, _, err := digest.File(f.Arg(0)); err != nil {
			return err
		}
	}
	file, err := os.Open(f.Arg(0))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	index, err := parquetfile.OpenMerged(file, info.Size())
	if err != nil {
		return err
	}
	processes := make(chan int32, len(index.Processes()))
	for _, no := range index.Processes() {
		processes <- no
	}
	close(processes)
	sums, errs := make([]int64, *f.threads), make([]error, *f.threads)
	var wait sync.WaitGroup
	for t := range *f.threads {
		wait.Go(func() { sums[t], errs[t] = percentilesOf(index, file, processes) })
	}
	wait.Wait()
	got := figures{"in_cpu_s": (cpu() - startCPU).Seconds(), "in_wall_s": time.Since(start).Seconds()}
	for t := range sums {
		if errs[t] != nil {
			return errs[t]
		}
		got["sum"] += float64(sums[t])
	}
	return printFigures(got)
}

func percentilesOf(index *parquetfile.MergedIndex, file *os.File, processes <-chan int32) (sum int64, err error) {
	selector := stat.NewSelector()
	values := make([]int64, len(asked))
	var r parquetfile.SampleReader
	for no := range processes {
		if err := index.Reset(&r, file, no); err != nil {
			return 0, err
		}
		if _, err := selector.Percentiles(r.EachLatency, asked, values); err != nil {
			return 0, err
		}
		for _, v := range values {
			sum += v
		}
	}
	return sum, nil
}

// generateSide makes a sealed bundle of pairs with samples.
func generateSide(args []string) error {
	f := newFlags("generate")
	_ = f.Parse(args)
	operations, seed := int64(*f.samples), int64(1)
	rounds := max(*f.processes/2, 1)
	now := time.Now().UTC()
	w, err := bundle.Create(atomicfile.OS{}, f.Arg(0), []byte("plan: 1\nstudy: bench\n"), records.Run{
		ToolVersion: "bench", Study: "bench", Profile: "database", Layout: "paired", Origin: "collected",
		Arms:   [2]records.RunArm{{Side: records.SideA, Name: "a"}, {Side: records.SideB, Name: "b"}},
		Suites: []records.RunSuite{{ID: "bench", Workload: "redis_echo", Factors: []records.RunFactor{{Name: "n", Kind: records.FactorInt}}}},
		Rounds: rounds, Order: records.RunOrder{Kind: "alternate", Seed: &seed},
		StartedAt: now, EndedAt: now.Add(time.Hour), ElapsedNs: int64(time.Hour), PlannedProcesses: 2 * rounds, Lock: "complete",
	}, []records.Cell{{CellID: "cell", Suite: "bench", PlannedOperations: &operations, OperationsPerSample: 1, Factors: []records.Factor{{Name: "n", Value: records.IntFactor(1)}}}})
	if err != nil {
		return err
	}
	defer w.Close()
	s := newSamples(*f.samples)
	for no := int32(1); no <= int32(2*rounds); no++ {
		fill(s, no)
		if err := w.Append(generated(no, s), s); err != nil {
			return err
		}
	}
	_, err = w.Seal(w.Run())
	return err
}

func generated(no int32, s *records.Samples) records.Process {
	side, arm := records.SideA, "a"
	if no%2 == 0 {
		side, arm = records.SideB, "b"
	}
	n := int64(s.Len())
	elapsed := s.StartNs[n-1] + s.LatencyNs[n-1]
	round, zero, exit := (no+1)/2, int64(0), int32(0)
	scope, source, peak := records.CPUScopeInterval, "vmhwm_at_done", int64(8<<20)
	empty := digest.Sum(nil).String()
	p := records.Process{
		ProcessNo: no, ProcessID: fmt.Sprintf("bench/cell/%s/%d", arm, round), Suite: "bench", CellID: "cell",
		Arm: arm, Side: side, Round: round, Slot: no, FirstInPair: no%2 == 1,
		Argv: `["bench"]`, Outcome: records.OutcomeOK, ExitCode: &exit,
		StdoutSHA256: empty, StderrSHA256: empty,
		MeasuredOperations: &n, WarmupOperations: &zero, Errors: &zero, Incomplete: &zero, WarmupErrors: &zero, SampleCount: &n,
		ElapsedNs: &elapsed, CPUNs: &elapsed, CPUWallNs: &elapsed, CPUScope: &scope,
		PeakRSSBytes: &peak, PeakRSSSource: &source, RSSFloorBytes: &zero,
	}
	p.Start(time.Now())
	return p
}
