package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"pairbench/collect/driver"
	"pairbench/collect/service"
)

// serve runs measure beside a managed server on the bench's processor.
func (b *bench) serve(ctx context.Context, kind service.Kind, measure func(*service.Instance) error) error {
	server, err := service.Start(ctx, service.Spec{Name: string(kind), Kind: kind, Mode: service.Managed, CPUs: []int{b.cpu}})
	if err != nil {
		return err
	}
	defer server.Stop(context.Background())
	return measure(server)
}

// measureRecord measures what measuring costs.
func measureRecord(ctx context.Context, b *bench) error {
	calibrate := b.program(program{argv: []string{b.bin("pbdriver"), "calibrate"}, cpus: []int{b.cpu}, parse: func(stdout []byte) (figures, error) {
		got, err := object(stdout)
		if err != nil {
			return nil, err
		}
		got["beyond_ns"] = got["sample_record_ns"] - 2*got["clock_read_ns"]
		return got, nil
	}})
	return b.pair(ctx, calibrate, side{}, nil,
		figure{what: "record one sample, beyond its two clock reads", key: "beyond_ns", unit: "ns", reach: "≤ 10 ns"},
		figure{what: "record one sample, allocations", key: "sample_record_allocs", reach: "0"},
		figure{what: "one clock read", key: "clock_read_ns", unit: "ns", reach: "measured and stored"},
		figure{what: "an empty request through the owner loop, callback", key: "empty_request_callback_ns", unit: "ns", reach: "measured and stored"},
		figure{what: "an empty request through the owner loop, coroutine", key: "empty_request_coroutine_ns", unit: "ns", reach: "measured and stored"})
}

// redisBenchmark is redis-benchmark over the same number of connections. Its
// commands carry a fixed payload.
func (b *bench) redisBenchmark(server *service.Instance, connections, pipeline, requests, payload int) side {
	_, port, _ := net.SplitHostPort(server.Service.Address)
	argv := []string{"redis-benchmark", "-h", "127.0.0.1", "-p", port, "-c", strconv.Itoa(connections), "-P", strconv.Itoa(pipeline),
		"-n", strconv.Itoa(requests), "--csv", "ECHO", strings.Repeat("x", payload)}
	s := b.program(program{argv: argv, cpus: []int{b.cpu}, parse: func(stdout []byte) (figures, error) {
		lines, err := csv.NewReader(bytes.NewReader(stdout)).ReadAll()
		if err != nil || len(lines) < 2 {
			return nil, fmt.Errorf("output %.80q: %v", stdout, err)
		}
		last := lines[len(lines)-1]
		rate, err := strconv.ParseFloat(last[1], 64)
		return figures{"rate": rate}, err
	}})
	s.command = strings.ReplaceAll(strings.ReplaceAll(s.command, strings.Repeat("x", payload), fmt.Sprintf("(%d bytes)", payload)), "-p "+port, "-p PORT")
	return s
}

func (b *bench) redisJob(server *service.Instance, arm, io string, connections, outstanding, operations int) driver.Job {
	return driver.Job{
		Workload: "redis_echo", Arm: arm, Service: &server.Service, ClientCPUs: []int{b.cpu},
		Factors:  map[string]any{"payload_bytes": 64, "connections": connections, "outstanding": outstanding},
		Settings: map[string]any{"io": io},
		Warmup:   driver.Amount{Operations: 2000}, Measure: driver.Amount{Operations: int64(operations)},
	}
}

// measureRedis measures the Redis workloads beside redis-benchmark; client and
// server share one processor.
func measureRedis(ctx context.Context, b *bench) error {
	return b.serve(ctx, service.Redis, func(server *service.Instance) error {
		if err := b.redisStart(ctx, server); err != nil {
			return err
		}
		const operations = 25_000
		for _, io := range []string{"separate", "inline"} {
			reach := "≥ 0.8"
			if io == "inline" {
				reach = "≥ 1.0"
			}
			for _, n := range [][2]int{{1, 1}, {1, 16}, {4, 16}, {4, 64}} {
				for _, arm := range []string{"callback", "coroutine"} {
					job := b.redisJob(server, arm, io, n[0], n[1], operations)
					err := b.pair(ctx, b.driverSide("pbdriver", nil, job), b.redisBenchmark(server, n[0], 1, operations, 64), nil,
						figure{what: fmt.Sprintf("Redis ECHO 64 B, %d/%d, %s, IO %s", n[0], n[1], arm, io), key: "rate", unit: "/s", reach: reach})
					if err != nil {
						return err
					}
				}
			}
		}
		for _, io := range []string{"separate", "inline"} {
			for _, n := range [][2]int{{1, 1}, {4, 16}} {
				const operations = 40_000
				coroutine, callback := b.redisJob(server, "coroutine", io, n[0], n[1], operations), b.redisJob(server, "callback", io, n[0], n[1], operations)
				err := b.pair(ctx, b.driverSide("pbdriver", nil, coroutine), b.driverSide("pbdriver", nil, callback), nil,
					figure{what: fmt.Sprintf("coroutine against callback, Redis ECHO 64 B, %d/%d, IO %s", n[0], n[1], io), key: "rate", unit: "/s", reach: "≥ 0.95"})
				if err != nil {
					return err
				}
			}
		}
		return b.redisPipelines(ctx, server)
	})
}

// redisStart measures a driver's start, its memory and its cadence.
func (b *bench) redisStart(ctx context.Context, server *service.Instance) error {
	small := b.redisJob(server, "callback", "separate", 1, 1, 10_000)
	small.Warmup = driver.Amount{}
	large := b.redisJob(server, "coroutine", "separate", 4, 64, 40_000)
	tick := b.redisJob(server, "callback", "separate", 1, 1, 1024)
	tick.Factors["cadence"] = "1ms"
	for _, c := range []struct {
		job    driver.Job
		wanted []figure
	}{
		{small, []figure{
			{what: "pbdriver, start until ready and connected", key: "ready_ms", unit: "ms", reach: "≤ 10 ms"},
			{what: "pbdriver, peak RSS in 64 B Redis, 1/1, callback", key: "peak_mib", unit: "MiB", reach: "≤ 8 MiB"}}},
		{large, []figure{{what: "pbdriver, peak RSS in 64 B Redis, 4/64, coroutine", key: "peak_mib", unit: "MiB", reach: "≤ 8 MiB"}}},
		{tick, []figure{{what: "1 ms cadence, one in flight", key: "rate", unit: "/s", reach: "990 to 1,000"}}},
	} {
		if err := b.pair(ctx, b.driverSide("pbdriver", nil, c.job), side{}, nil, c.wanted...); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) redisPipelines(ctx context.Context, server *service.Instance) error {
	for _, n := range [][2]int{{16, 4096}, {64, 1024}} {
		batch, payload := n[0], n[1]
		operations := 4 * batch * 1000
		job := driver.Job{
			Workload: "redis_pipeline", Arm: "callback", Service: &server.Service, ClientCPUs: []int{b.cpu}, OperationsPerSample: int64(batch),
			Factors:  map[string]any{"payload_bytes": payload, "connections": 4, "outstanding": 4, "batch": batch},
			Settings: map[string]any{"io": "inline", "gomaxprocs": 2, "gogc": 1000},
			Warmup:   driver.Amount{Operations: int64(batch) * 100}, Measure: driver.Amount{Operations: int64(operations)},
		}
		for _, variant := range []struct{ arm, io string }{{"callback", "inline"}, {"callback", "separate"}, {"goroutine", "goroutines"}} {
			each := job
			each.Arm = variant.arm
			each.Settings = map[string]any{"gomaxprocs": 2, "gogc": 1000}
			if variant.arm == "callback" {
				each.Settings["io"] = variant.io
			}
			err := b.pair(ctx, b.driverSide("pbdriver", nil, each), b.redisBenchmark(server, 4, batch, operations, payload), nil,
				figure{what: fmt.Sprintf("Redis pipelines %d × %d B, 4 connections, %s", batch, payload, variant.io), key: "rate", unit: "/s", reach: "≥ 0.8"})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// measureMySQL measures text SELECTs over TLS beside a C client; client and
// server share one processor.
func measureMySQL(ctx context.Context, b *bench) error {
	peer := b.file("mysql_select")
	flags, err := exec.CommandContext(ctx, "pkg-config", "--cflags", "--libs", "libmariadb").Output()
	if err != nil {
		return fmt.Errorf("pkg-config libmariadb: %w: install libmariadb-dev", err)
	}
	argv := append([]string{"-O2", "-o", peer, "cmd/bench/peer/mysql_select.c", "-lpthread"}, strings.Fields(string(flags))...)
	if out, err := exec.CommandContext(ctx, "gcc", argv...).CombinedOutput(); err != nil {
		return fmt.Errorf("gcc: %w: %s", err, out)
	}
	defer os.Remove(peer)
	return b.serve(ctx, service.MySQL, func(server *service.Instance) error {
		host, port, err := net.SplitHostPort(server.Service.Address)
		if err != nil {
			return err
		}
		for _, payload := range []int{64, 4096} {
			reach := map[int]string{64: "≥ 0.8", 4096: "≥ 0.65"}[payload]
			for _, n := range [][2]int{{1, 1}, {4, 16}} {
				theirs := b.program(program{cpus: []int{b.cpu}, env: server.Env(), parse: object, argv: []string{peer, host, port,
					server.Service.CAFile, server.Service.User, server.Service.Database, strconv.Itoa(payload), strconv.Itoa(n[0]), "1000"}})
				theirs.command = fmt.Sprintf("taskset -c %d mysql_select HOST PORT CA USER DATABASE %d %d 1000", b.cpu, payload, n[0])
				for _, v := range []struct {
					arm, name string
					settings  map[string]any
				}{
					{"callback", "IO separate", map[string]any{"io": "separate"}},
					{"callback", "IO inline, waiting", map[string]any{"io": "inline", "idle": "wait"}},
					{"goroutine", "goroutines", nil},
				} {
					job := driver.Job{
						Workload: "mysql_text", Arm: v.arm, Service: &server.Service, ClientCPUs: []int{b.cpu},
						Factors:  map[string]any{"payload_bytes": payload, "connections": n[0], "outstanding": n[1]},
						Settings: v.settings,
						Warmup:   driver.Amount{Operations: 500}, Measure: driver.Amount{DurationNs: 1000e6},
					}
					err := b.pair(ctx, b.driverSide("pbdriver", server.Env(), job), theirs, nil,
						figure{what: fmt.Sprintf("MySQL text SELECT over TLS %d B, %d/%d, %s", payload, n[0], n[1], v.name), key: "rate", unit: "/s", reach: reach})
					if err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// measureTCP measures TCP echo, client and server in one process, beside the C++
// driver with standalone Asio callbacks.
func measureTCP(ctx context.Context, b *bench) error {
	for _, inFlight := range []int{1, 16} {
		job := func(arm string) driver.Job {
			return driver.Job{
				Workload: "tcp_echo", Arm: arm, ClientCPUs: []int{b.cpu}, OperationsPerSample: int64(inFlight),
				Factors: map[string]any{"connections": 16, "payload_bytes": 1024, "in_flight": inFlight, "threads": 1, "work": 0},
				Warmup:  driver.Amount{DurationNs: 100e6}, Measure: driver.Amount{DurationNs: 1000e6},
			}
		}
		asio := b.driverSide("asio_standalone", nil, job("callback"))
		for _, arm := range []struct{ name, reach string }{{"callback", "≥ 1.0"}, {"coroutine", "≥ 0.95"}, {"goroutine", "≥ 0.8"}} {
			err := b.pair(ctx, b.driverSide("pbdriver", nil, job(arm.name)), asio, nil,
				figure{what: fmt.Sprintf("TCP echo 1 KiB, 16 connections, %d in flight, %s", inFlight, arm.name), key: "rate", unit: "/s", reach: arm.reach})
			if err != nil {
				return err
			}
		}
		err := b.pair(ctx, b.driverSide("pbdriver", nil, job("coroutine")), b.driverSide("pbdriver", nil, job("callback")), nil,
			figure{what: fmt.Sprintf("coroutine against callback, TCP echo, %d in flight", inFlight), key: "rate", unit: "/s", reach: "≥ 0.95"})
		if err != nil {
			return err
		}
	}
	return nil
}

// measureCommand measures the command itself: its start, a render of the full
// database study, and the size of the binaries.
func measureCommand(ctx context.Context, b *bench) error {
	pairbench := b.bin("pairbench")
	err := b.pair(ctx, b.program(program{argv: []string{pairbench, "--version"}, cpus: []int{b.cpu}}), side{}, nil,
		figure{what: "pairbench --version, start to end", key: "wall_s", unit: "s", reach: "≤ 0.02 s"})
	if err != nil {
		return err
	}
	for _, name := range []string{"pbdriver", "pairbench"} {
		info, err := os.Stat(b.bin(name))
		if err != nil {
			return err
		}
		reach := "—"
		if name == "pbdriver" {
			reach = "≤ 10 MiB"
		}
		mib := float64(info.Size()) / (1 << 20)
		b.rows = append(b.rows, row{figure: figure{what: "binary size of " + name, unit: "MiB", reach: reach}, ours: []float64{mib}, oursCommand: "stat -c %s bin/" + name})
	}
	source, analysis := b.file("bundle"), b.file("analysis")
	for _, argv := range [][]string{
		{pairbench, "import", "--format", "csv", "--plan", "database", "--out", source, "render/rendertest/testdata/database.csv"},
		{pairbench, "analyze", "--out", analysis, source},
	} {
		if _, _, err := b.execute(ctx, program{argv: argv}); err != nil {
			return err
		}
	}
	out := b.file("report")
	render := b.program(program{argv: []string{pairbench, "render", "--out", out, "--format", "html,md,csv", "--lang", "en,zh-CN", analysis}, cpus: []int{b.cpu}})
	inner := render.run
	render.run = func(ctx context.Context) (figures, error) {
		os.RemoveAll(out)
		got, err := inner(ctx)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(out + "/report.en.html")
		if err != nil {
			return nil, err
		}
		got["html_mib"] = float64(info.Size()) / (1 << 20)
		return got, nil
	}
	return b.pair(ctx, render, side{}, nil,
		figure{what: "render the full database study: all formats, two languages", key: "wall_s", unit: "s", reach: "≤ 0.5 s"},
		figure{what: "its HTML in English", key: "html_mib", unit: "MiB", reach: "≤ 1.5 MiB"})
}

// measureStudy collects one round of the database study and tells what part of
// the time is neither warm-up nor measurement nor the services' start.
func measureStudy(ctx context.Context, b *bench) error {
	out := b.file("study")
	argv := []string{b.bin("pairbench"), "collect", "--rounds", "1", "--out", out, "database"}
	collect := program{argv: argv, limit: 15 * runLimit}
	if _, _, err := b.execute(ctx, collect); err != nil {
		return err
	}
	defer os.RemoveAll(out)
	source, err := os.ReadFile(out + "/data/run.json")
	if err != nil {
		return err
	}
	var run struct {
		Elapsed  float64 `json:"elapsed_ns"`
		Services float64 `json:"service_start_ns"`
		Measured float64 `json:"measured_ns"`
		Warmup   float64 `json:"warmup_ns"`
	}
	if err := json.Unmarshal(source, &run); err != nil {
		return err
	}
	outside := run.Elapsed - run.Services - run.Measured - run.Warmup
	r := row{
		figure: figure{what: "database study, time outside warm-up and measurement", unit: "%", reach: "≤ 5 %"},
		ours:   []float64{100 * outside / (run.Elapsed - run.Services)}, oursCommand: b.show(argv, nil),
	}
	b.rows = append(b.rows, r)
	fmt.Fprintln(os.Stderr, r.line())
	return nil
}
