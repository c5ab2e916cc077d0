package asio

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pairbench/collect/driver"
	"pairbench/collect/driver/drivertest"
	"pairbench/collect/workload/echoserver"
	"pairbench/records"
)

var (
	arms    = []string{"callback", "coroutine"}
	drivers = []string{"asio_boost", "asio_standalone"}
)

// build makes both drivers once a run; make does nothing when they are current.
var build = sync.OnceValue(func() error {
	for _, need := range []struct{ program, code, packages string }{
		{"make", "", "make"},
		{"g++", "", "g++ (12 or later)"},
		{"g++", "#include <boost/asio.hpp>", "libboost-dev"},
		{"g++", "#include <asio.hpp>", "libasio-dev"},
	} {
		if _, err := exec.LookPath(need.program); err != nil {
			return fmt.Errorf("%s is not on the PATH: install the package %s", need.program, need.packages)
		}
		if need.code == "" {
			continue
		}
		check := exec.Command(need.program, "-std=c++20", "-x", "c++", "-M", "-")
		check.Stdin = strings.NewReader("#include <utility>\n" + need.code + "\n")
		if err := check.Run(); err != nil {
			return fmt.Errorf("%s does not compile: install the package %s", need.code, need.packages)
		}
	}
	if output, err := exec.Command("make", "-j2").CombinedOutput(); err != nil {
		return fmt.Errorf("make: %w\n%s", err, output)
	}
	return nil
})

// program returns the path of a driver.
func program(t *testing.T, name string) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(filepath.Join("build", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// job returns a job of the given batches; factors are name, value pairs.
func job(arm string, warmup, measure int64, factors ...any) driver.Job {
	j := driver.Job{
		Protocol: driver.ProtocolVersion, ProcessNo: 3, Arm: arm, Side: records.SideA, Round: 1,
		Workload: "tcp_echo", Factors: map[string]any{}, Settings: map[string]any{}, Seed: 42,
	}
	for i := 0; i < len(factors); i += 2 {
		j.Factors[factors[i].(string)] = factors[i+1]
	}
	batch := int64(1)
	if n, ok := j.Factors["in_flight"].(int); ok {
		batch = int64(n)
		j.OperationsPerSample = batch
	}
	j.Warmup.Operations, j.Measure.Operations = warmup*batch, measure*batch
	return j
}

func TestDriver(t *testing.T) {
	for _, name := range drivers {
		t.Run(name, func(t *testing.T) {
			argv := []string{program(t, name)}
			t.Run("own server", func(t *testing.T) {
				drivertest.Run(t, argv, drivertest.Options{Job: job("callback", 50, 500, "in_flight", 4, "threads", 2), Arms: arms})
			})
			t.Run("an address", func(t *testing.T) {
				j := job("callback", 2, 20, "in_flight", 4, "connections", 2, "payload_bytes", 64)
				j.Service = &driver.Service{Address: serve(t)}
				lies := map[string]string{}
				for name, reply := range map[string]func(batch []byte) []byte{
					"one bit": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
					"swapped": func(b []byte) []byte { return append(bytes.Clone(b[64:128]), append(b[:64:64], b[128:]...)...) },
					"stale":   func(b []byte) []byte { b[0]--; return b },
					"surplus": func(b []byte) []byte { return append(b, 'x') },
					"closed":  func(b []byte) []byte { return nil },
					"short":   func(b []byte) []byte { return b[:65] },
				} {
					lies[name] = lie(t, reply)
				}
				j.Settings["request_limit_ms"] = 300
				drivertest.Run(t, argv, drivertest.Options{Job: j, Arms: arms, Lies: lies})
			})
		})
	}
}

func serve(t *testing.T) string {
	t.Helper()
	server, err := echoserver.Listen("127.0.0.1:0", echoserver.TCP)
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve()
	t.Cleanup(server.Close)
	return server.Address()
}

// lie serves batches of 256 bytes and gives each the reply; nil closes, and a
// short one is the last.
func lie(t *testing.T, reply func([]byte) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				batch := make([]byte, 256)
				for {
					if _, err := io.ReadFull(c, batch); err != nil {
						return
					}
					answer := reply(bytes.Clone(batch))
					if answer == nil {
						return
					}
					if _, err := c.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// Every shape of the native study, and the ends of the ranges.
func TestShapes(t *testing.T) {
	for _, name := range drivers {
		for _, arm := range arms {
			for _, c := range []struct{ connections, inFlight, threads, work, size int }{
				{1, 1, 1, 0, 8},
				{16, 1, 1, 0, 1024},
				{16, 16, 1, 10, 1024},
				{16, 1, 4, 10, 1024},
				{16, 16, 4, 0, 4096},
				{2, 3, 2, 10000, 65},
				{1, 4, 1, 0, 64 << 10},
			} {
				t.Run(fmt.Sprintf("%s/%s/%d/%d/%d/%d/%d", name, arm, c.connections, c.inFlight, c.threads, c.work, c.size), func(t *testing.T) {
					p := drivertest.Start(t, []string{program(t, name)}, nil, job(arm, 20, 200, "connections", c.connections,
						"in_flight", c.inFlight, "threads", c.threads, "work", c.work, "payload_bytes", c.size))
					hello := p.UpToReady()
					if hello.Driver != name || hello.Versions["asio"] == "" || hello.Versions["g++"] == "" {
						t.Errorf("hello is %+v", hello)
					}
					r, _, outcome, detail := p.Measure()
					if outcome != records.OutcomeOK {
						t.Fatalf("%s: %s", outcome, detail)
					}
					if r.P50Ns == nil || r.P99Ns == nil || r.PeakRSSBytes == nil || r.CPUIntervalNs == nil || r.ClientCPUs == "" {
						t.Errorf("result is %+v", r)
					}
					if got := r.Runtime["arm"]; got != arm {
						t.Errorf("arm is %q", got)
					}
					if code := p.Wait(); code != 0 {
						t.Errorf("exit code %d", code)
					}
				})
			}
		}
	}
}

func TestPinned(t *testing.T) {
	j := job("callback", 0, 10)
	j.ClientCPUs = []int{0}
	p := drivertest.Start(t, []string{program(t, drivers[0])}, nil, j)
	p.UpToReady()
	if r, _, _, _ := p.Measure(); r.ClientCPUs != "0" {
		t.Errorf("processors are %q, expected 0", r.ClientCPUs)
	}
}

func TestRefusals(t *testing.T) {
	with := func(edit func(*driver.Job)) driver.Job {
		j := job("callback", 4, 40, "in_flight", 4)
		edit(&j)
		return j
	}
	for _, c := range []struct {
		says string
		job  driver.Job
	}{
		{`workload is "redis_echo", expected tcp_echo`, with(func(j *driver.Job) { j.Workload = "redis_echo" })},
		{`arm is "goroutine", expected callback or coroutine`, with(func(j *driver.Job) { j.Settings["arm"] = "goroutine" })},
		{"connections is 0, expected 1 to 4096", with(func(j *driver.Job) { j.Factors["connections"] = 0 })},
		{"threads is no whole number", with(func(j *driver.Job) { j.Factors["threads"] = 1.5 })},
		{"payload_bytes is 7, expected 8", with(func(j *driver.Job) { j.Factors["payload_bytes"] = 7 })},
		{"expected at most 262144 bytes", with(func(j *driver.Job) { j.Factors["payload_bytes"] = 128 << 10 })},
		{"expected a multiple of 3", with(func(j *driver.Job) { j.Factors["in_flight"], j.OperationsPerSample = 3, 0 })},
		{"a sample is 4", with(func(j *driver.Job) { j.OperationsPerSample = 1 })},
		{"expected 0 with a service", with(func(j *driver.Job) {
			j.Factors["work"], j.Service = 1, &driver.Service{Address: "127.0.0.1:1"}
		})},
		{"expected host:port", with(func(j *driver.Job) { j.Service = &driver.Service{Address: "localhost"} })},
		{"client_cpus is -1", with(func(j *driver.Job) { j.ClientCPUs = []int{-1} })},
	} {
		t.Run(c.says, func(t *testing.T) {
			if text := drivertest.Start(t, []string{program(t, drivers[1])}, nil, c.job).Refusal(); !strings.Contains(text, c.says) {
				t.Errorf("driver says %q, expected %q in it", text, c.says)
			}
		})
	}
}

// The job's reader against texts that are no JSON, and unusual ones that are.
func TestJobTexts(t *testing.T) {
	good := `{"protocol":1,"workload":"tcp_\u0065cho","arm":"callback","measure":{"operations":1e1},"factors":{"connections":2.0,"x\ud83d\ude00":[[],{},null,true,false,-0.5e-3]},"service":null}`
	for _, c := range []struct{ name, text, says string }{
		{"good", good, ""},
		{"spaces", " \t\r\n" + strings.ReplaceAll(good, ",", " ,\n") + "\n", ""},
		{"tail", good + "x", "text after the value"},
		{"no end", good[:len(good)-1], "expected a comma or the object's end"},
		{"deep", strings.Repeat("[", 100000), "nested deeper than 64"},
		{"string without end", `{"a`, "the string does not end"},
		{"control character", "{\"a\nb\":1}", "control character in a string"},
		{"escape", `{"\x":1}`, "unknown escape"},
		{"surrogate", `{"\ud800":1}`, "half of a surrogate pair"},
		{"hexadecimal", `{"\u12g4":1}`, "four hexadecimal digits"},
		{"number", `{"a":-}`, "expected a value"},
		{"number with a point", `{"a":1.}`, "expected a value"},
		{"array", `[1`, "expected a comma or the array's end"},
		{"no object", `[]`, "is no JSON object"},
		{"huge", strings.Repeat(" ", 1<<20) + good, "more than 1048576 bytes"},
		{"overflow", strings.Replace(good, "2.0", "1e400", 1), "connections is no whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "job.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			said := talk(t, program(t, drivers[1]), path)
			if c.says == "" {
				if !strings.Contains(said, `"type":"ready"`) {
					t.Errorf("driver says %s, expected ready", said)
				}
			} else if !strings.Contains(said, strings.ReplaceAll(c.says, `"`, `\"`)) {
				t.Errorf("driver says %s, expected %q in it", said, c.says)
			}
		})
	}
}

// talk starts a driver whose collector goes away at once, and returns all it
// said.
func talk(t *testing.T, path, job string) string {
	t.Helper()
	messages, messagesW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Close()
	commands, commandsW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	commandsW.Close()
	samples, err := os.Create(filepath.Join(t.TempDir(), "samples"))
	if err != nil {
		t.Fatal(err)
	}
	defer samples.Close()
	cmd := exec.Command(path)
	cmd.Env = []string{driver.JobEnv + "=" + job}
	cmd.ExtraFiles = []*os.File{messagesW, commands, samples}
	err = cmd.Start()
	messagesW.Close()
	commands.Close()
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(messages)
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Wait() == nil {
		t.Error("driver exits with 0")
	}
	return string(said)
}

func TestVersion(t *testing.T) {
	for _, name := range drivers {
		output, err := exec.Command(program(t, name), "--version").Output()
		if err != nil || !strings.Contains(string(output), "asio 1.") {
			t.Errorf("%s --version: %q, %v", name, output, err)
		}
	}
}
