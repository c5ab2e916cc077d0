package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"pairbench/collect/driver"
	"pairbench/collect/proc"
)

// runLimit bounds one run of one side; none takes a quarter of it.
const runLimit = 60 * time.Second

// program is a side that is a program. Its figures are what parse makes of its
// output, and wall_s, cpu_s and peak_mib of the whole process.
type program struct {
	argv  []string
	env   []string
	cpus  []int
	limit time.Duration
	parse func(stdout []byte) (figures, error)
}

func (b *bench) program(p program) side {
	return side{command: b.show(p.argv, p.cpus), run: func(ctx context.Context) (figures, error) {
		got, _, err := b.execute(ctx, p)
		return got, err
	}}
}

// show writes a command as it could be typed.
func (b *bench) show(argv []string, cpus []int) string {
	text := strings.ReplaceAll(strings.ReplaceAll(strings.Join(argv, " "), b.self, "bench"), b.root+"/", "")
	if len(cpus) > 0 {
		text = "taskset -c " + strings.Trim(strings.ReplaceAll(fmt.Sprint(cpus), " ", ","), "[]") + " " + text
	}
	return text
}

func (b *bench) execute(ctx context.Context, p program) (figures, []byte, error) {
	stdout, stderr := b.file("stdout"), b.file("stderr")
	defer os.Remove(stdout)
	defer os.Remove(stderr)
	if p.limit == 0 {
		p.limit = runLimit
	}
	process, err := proc.Start(proc.Spec{
		Argv: p.argv, Env: append(p.env, b.env...), StdoutPath: stdout, StderrPath: stderr,
		CPUs: p.cpus, TimeLimit: p.limit, RSS: proc.RSSAtExit,
	})
	if err != nil {
		return nil, nil, err
	}
	defer process.Close()
	exit := process.Wait(ctx)
	said, err := os.ReadFile(stdout)
	if err != nil {
		return nil, nil, err
	}
	if exit.ExitCode == nil || *exit.ExitCode != 0 {
		return nil, nil, fmt.Errorf("failed (%s): %s", exit.Cause, proc.Tail(stderr, 400))
	}
	got := figures{"wall_s": float64(exit.WallNs) / 1e9, "cpu_s": float64(exit.CPUNs) / 1e9}
	if exit.Peak != nil {
		got["peak_mib"] = float64(exit.Peak.Bytes) / (1 << 20)
	}
	if p.parse != nil {
		more, err := p.parse(said)
		if err != nil {
			return nil, nil, err
		}
		for name, value := range more {
			got[name] = value
		}
	}
	return got, said, nil
}

// object reads figures that a side printed as one JSON object.
func object(stdout []byte) (figures, error) {
	var got figures
	if err := json.Unmarshal(bytes.TrimSpace(stdout), &got); err != nil {
		return nil, fmt.Errorf("output %.80q: %w", stdout, err)
	}
	return got, nil
}

// driverSide is a side that carries out a job as collect would have it done. Its
// figures: rate in operations a second, peak_mib, ready_ms from the start of
// the process, p50_us, cpu_us of an operation over the interval.
func (b *bench) driverSide(binary string, env []string, job driver.Job) side {
	job.Protocol, job.ProcessNo, job.ProcessID, job.Round, job.Seed = driver.ProtocolVersion, 1, "bench", 1, 1
	shown := job
	shown.Service = nil
	text, _ := json.Marshal(struct {
		Arm, Workload     string
		Factors, Settings map[string]any
		Measure           driver.Amount
		ClientCPUs        []int
	}{shown.Arm, shown.Workload, shown.Factors, shown.Settings, shown.Measure, shown.ClientCPUs})
	return side{command: "bin/" + binary + " with PAIRBENCH_JOB = " + string(text), run: func(ctx context.Context) (figures, error) {
		return b.drive(ctx, b.bin(binary), env, job)
	}}
}

func (b *bench) drive(ctx context.Context, binary string, env []string, job driver.Job) (figures, error) {
	path, stderr := b.file("job.json"), b.file("stderr")
	if err := driver.WriteJob(path, job); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	defer os.Remove(stderr)
	process, err := proc.Start(proc.Spec{
		Argv: []string{binary}, Env: append(append(env, driver.JobEnv+"="+path), b.env...),
		StderrPath: stderr, Protocol: true, CPUs: job.ClientCPUs, TimeLimit: runLimit,
	})
	if err != nil {
		return nil, err
	}
	defer process.Close()
	got, err := converse(ctx, process, job)
	if err != nil {
		process.End()
		process.Wait(context.Background())
		return nil, fmt.Errorf("%w %s", err, proc.Tail(stderr, 400))
	}
	process.Wait(ctx)
	return got, nil
}

func converse(ctx context.Context, process *proc.Process, job driver.Job) (figures, error) {
	s := driver.NewSession(process.Messages(), process.Commands(), process.Samples(), driver.Limits{Step: runLimit})
	if _, err := s.Hello(ctx); err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return nil, err
	}
	ready := time.Since(process.Started())
	if err := s.Go(ctx); err != nil {
		return nil, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	result, err := s.End(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Done(ctx); err != nil {
		return nil, err
	}
	snapshot, err := process.Snapshot()
	if err != nil {
		return nil, err
	}
	samples, err := s.Samples(1 << 26)
	if err != nil {
		return nil, err
	}
	if outcome, detail := driver.Check(job, result, &samples, driver.Observed{}); outcome != "ok" {
		return nil, fmt.Errorf("%s: %s", outcome, detail)
	}
	got := figures{
		"rate":     float64(result.MeasuredOperations) / (float64(result.ElapsedNs) / 1e9),
		"ready_ms": float64(ready.Nanoseconds()) / 1e6,
	}
	if snapshot.Peak != nil {
		got["peak_mib"] = float64(snapshot.Peak.Bytes) / (1 << 20)
	}
	if result.CPUIntervalNs != nil {
		got["cpu_us"] = float64(*result.CPUIntervalNs) / 1e3 / float64(result.MeasuredOperations)
	}
	return got, s.Exit(ctx)
}
