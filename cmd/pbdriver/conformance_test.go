package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"pairbench/collect/driver"
	"pairbench/collect/driver/drivertest"
	"pairbench/collect/service"
)

// asDriver makes the test binary the driver, so that the suite judges the code
// that is being tested and not a binary that was built before.
const asDriver = "PAIRBENCH_TEST_AS_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(asDriver) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func conform(t *testing.T, o drivertest.Options) {
	t.Helper()
	o.Env = append(o.Env, asDriver+"=1")
	drivertest.Run(t, []string{os.Args[0]}, o)
}

var arms = []string{"callback", "coroutine", "goroutine"}

func startService(t *testing.T, kind service.Kind) *service.Instance {
	t.Helper()
	i, err := service.Start(context.Background(), service.Spec{Name: string(kind), Kind: kind, Mode: service.Managed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.Stop(context.Background()) })
	return i
}

func TestRedisEchoConforms(t *testing.T) {
	server := startService(t, service.Redis)
	lies := map[string]string{}
	for _, lie := range drivertest.RESPLies {
		lies[string(lie)] = drivertest.StartLyingRESP(t, lie).Address
	}
	conform(t, drivertest.Options{Arms: arms, Lies: lies, Job: driver.Job{
		Protocol: 1, ProcessNo: 1, ProcessID: "p", Workload: "redis_echo",
		Factors: map[string]any{"payload_bytes": 64, "connections": 2, "outstanding": 4},
		Warmup:  driver.Amount{Operations: 100}, Measure: driver.Amount{Operations: 1000},
		Service: &server.Service, Seed: 1,
	}})
}

func TestRedisPipelineConforms(t *testing.T) {
	server := startService(t, service.Redis)
	conform(t, drivertest.Options{Arms: arms[:1], Job: driver.Job{
		Protocol: 1, ProcessNo: 1, ProcessID: "p", Workload: "redis_pipeline", OperationsPerSample: 16,
		Factors: map[string]any{"payload_bytes": 4096, "connections": 4, "batch": 16},
		Warmup:  driver.Amount{Operations: 160}, Measure: driver.Amount{Operations: 1600},
		Service: &server.Service, Seed: 1,
	}})
}

func TestMySQLTextConforms(t *testing.T) {
	server := startService(t, service.MySQL)
	conform(t, drivertest.Options{Arms: arms, Env: server.Env(), Job: driver.Job{
		Protocol: 1, ProcessNo: 1, ProcessID: "p", Workload: "mysql_text",
		Factors: map[string]any{"payload_bytes": 64, "connections": 2, "outstanding": 4},
		Warmup:  driver.Amount{Operations: 20}, Measure: driver.Amount{Operations: 200},
		Service: &server.Service, Seed: 1,
	}})
}

func TestEchoConforms(t *testing.T) {
	for workload, names := range map[string][]string{
		"tcp_echo": arms, "http_echo": arms[2:], "websocket_echo": arms[2:],
	} {
		t.Run(workload, func(t *testing.T) {
			conform(t, drivertest.Options{Arms: names, Job: driver.Job{
				Protocol: 1, ProcessNo: 1, ProcessID: "p", Workload: workload,
				Factors: map[string]any{"payload_bytes": 64, "connections": 2},
				Warmup:  driver.Amount{Operations: 100}, Measure: driver.Amount{Operations: 1000}, Seed: 1,
			}})
		})
	}
}

// TestResultSaysWhatHeld reads the settings back from the result.
func TestResultSaysWhatHeld(t *testing.T) {
	server := startService(t, service.Redis)
	p := drivertest.Start(t, []string{os.Args[0]}, []string{asDriver + "=1"}, driver.Job{
		Protocol: 1, Workload: "redis_echo", Arm: "coroutine", ClientCPUs: []int{0},
		Settings: map[string]any{"gomaxprocs": 4, "gogc": 300, "io": "inline"},
		Factors:  map[string]any{"cadence": "1ms"},
		Measure:  driver.Amount{Operations: 5}, Service: &server.Service,
	})
	hello := p.UpToReady()
	result, _, outcome, detail := p.Measure()
	if outcome != "ok" {
		t.Fatalf("%s: %s", outcome, detail)
	}
	for name, want := range map[string]string{"gomaxprocs": "4", "gogc": "300", "io": "inline", "arm": "coroutine"} {
		if got := result.Runtime[name]; got != want {
			t.Errorf("%s is %q, expected %q", name, got, want)
		}
	}
	if result.ClientCPUs != "0" {
		t.Errorf("processors %q, expected 0", result.ClientCPUs)
	}
	for _, name := range []string{"driver", "go"} {
		if hello.Versions[name] == "" {
			t.Errorf("hello does not name the version of %s", name)
		}
	}
	if result.Versions["server"] != server.Version {
		t.Errorf("server %q, expected %q", result.Versions["server"], server.Version)
	}
	if result.MissedTicks == nil || result.PeakRSSBytes == nil {
		t.Errorf("result %+v holds no missed ticks or no peak RSS", result)
	}
}

func TestRefusals(t *testing.T) {
	server := startService(t, service.MySQL)
	job := driver.Job{
		Protocol: 1, Workload: "mysql_text", Arm: "callback", Measure: driver.Amount{Operations: 5}, Service: &server.Service,
	}
	for name, c := range map[string]struct {
		change func(*driver.Job)
		want   string
	}{
		"unknown workload":  {func(j *driver.Job) { j.Workload = "kafka" }, `workload is "kafka", expected one of`},
		"no password":       {func(j *driver.Job) {}, "is not set"},
		"no such processor": {func(j *driver.Job) { j.ClientCPUs = []int{4000} }, "pin to cpus [4000]"},
		"one P":             {func(j *driver.Job) { j.Settings = map[string]any{"gomaxprocs": 1} }, "gomaxprocs is 1"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := job
			c.change(&changed)
			p := drivertest.Start(t, []string{os.Args[0]}, []string{asDriver + "=1"}, changed)
			if text := p.Refusal(); !strings.Contains(text, c.want) {
				t.Errorf("driver says %q, expected %q", text, c.want)
			}
		})
	}
}
