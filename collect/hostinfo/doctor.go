package hostinfo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"pairbench/records"
)

// Status is the verdict of one check.
type Status string

// The verdicts. StatusUnknown means that the system does not tell: neither good
// nor bad.
const (
	StatusOK      Status = "ok"
	StatusWarn    Status = "warn"
	StatusBad     Status = "bad"
	StatusUnknown Status = "unknown"
)

// Check is one thing that doctor looked at.
type Check struct {
	// ID is stable: governor, turbo, smt, ...
	ID     string `json:"id"`
	Status Status `json:"status"`
	// Found is what is there, Why why it matters to a paired benchmark, Mend how
	// to change it; Mend is empty when nothing has to be done.
	Found string `json:"found"`
	Why   string `json:"why"`
	Mend  string `json:"mend,omitempty"`
}

// Needs is what a plan asks of the machine; zero values ask nothing.
type Needs struct {
	// BusyThreads are the threads that are busy at once, client and server
	// together.
	BusyThreads int
	// OpenFiles is the largest number of descriptors that one process needs.
	OpenFiles int64
	// MemoryBytes is what client and server hold together.
	MemoryBytes int64
	// CPUs are the processors that the plan pins to.
	CPUs []int
	// Ports are addresses (127.0.0.1:6379) that must be free.
	Ports []string
	// Services are addresses that must answer: services that already run.
	Services []string
}

// Doctor looks at everything that disturbs a paired benchmark, in a fixed order.
// The last checks are one for each of needs.Ports, or one for any loopback port
// where the plan asks for none, and one for each of needs.Services.
func Doctor(ctx context.Context, needs Needs) []Check {
	ports := needs.Ports
	if len(ports) == 0 {
		ports = []string{anyPort}
	}
	checks := append(examine(Facts(ctx), needs), portChecks(ctx, ports)...)
	return append(checks, serviceChecks(ctx, needs.Services)...)
}

// anyPort leaves the choice to the system, as managed services do.
const anyPort = "127.0.0.1:0"

// examination holds the facts while the checks read them.
type examination struct {
	value  map[string]string
	reason map[string]string
	needs  Needs
	checks []Check
}

// examine judges facts alone, so that any machine can be judged.
func examine(facts []records.HostFact, needs Needs) []Check {
	e := &examination{value: values(facts), reason: map[string]string{}, needs: needs}
	for _, f := range facts {
		if f.AbsentReason != nil {
			e.reason[f.Name] = *f.AbsentReason
		}
	}
	e.cores()
	e.quota()
	e.governor()
	e.turbo()
	e.smt()
	e.aslr()
	e.thp()
	e.swap()
	e.memory()
	e.load()
	e.pressure()
	e.steal()
	e.clock()
	e.power()
	e.thermal()
	e.openFiles()
	e.localPorts()
	return e.checks
}

// verdict adds a check.
func (e *examination) verdict(id string, status Status, found, why, mend string) {
	if status == StatusOK {
		mend = ""
	}
	e.checks = append(e.checks, Check{ID: id, Status: status, Found: found, Why: why, Mend: mend})
}

// unknown adds a check whose fact is absent.
func (e *examination) unknown(id, fact, why string) {
	reason := e.reason[fact]
	if reason == "" {
		reason = "not provided by this system"
	}
	e.verdict(id, StatusUnknown, fact+": "+reason, why, "")
}

// number returns a fact as an integer.
func (e *examination) number(fact string) (int64, bool) {
	n, err := strconv.ParseInt(e.value[fact], 10, 64)
	return n, err == nil
}

// usableCPUs is the number of processors that processes can run on.
func (e *examination) usableCPUs() (int64, []int, bool) {
	for _, fact := range []string{"cpu.allowed", "cgroup.cpuset", "cpu.online"} {
		if cpus := cpuList(e.value[fact]); cpus != nil {
			return int64(len(cpus)), cpus, true
		}
	}
	n, ok := e.number("cpu.logical")
	return n, nil, ok
}

// freePort says what is wrong with an address; nil when it is free.
func freePort(ctx context.Context, address string) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

func portChecks(ctx context.Context, addresses []string) []Check {
	var checks []Check
	for _, address := range addresses {
		c := Check{ID: "port", Status: StatusOK, Found: address + " is free", Why: "a managed service listens there, and another program's answers would be measured in its place"}
		if address == anyPort {
			c.Found = "a loopback port is free"
		}
		if err := freePort(ctx, address); err != nil {
			c.Status, c.Found = StatusBad, fmt.Sprintf("%s cannot be used: %v", address, err)
			c.Mend = "check the address in the plan"
			if errors.Is(err, syscall.EADDRINUSE) {
				c.Found, c.Mend = address+" is in use", "stop the program that listens there, or change the port in the plan"
			}
		}
		checks = append(checks, c)
	}
	return checks
}

// connectLimit bounds how long a service may take to answer.
const connectLimit = 3 * time.Second

func serviceChecks(ctx context.Context, addresses []string) []Check {
	var checks []Check
	for _, address := range addresses {
		c := Check{ID: "service", Status: StatusOK, Found: address + " answers", Why: "a service that does not answer fails every process of its suite"}
		conn, err := (&net.Dialer{Timeout: connectLimit}).DialContext(ctx, "tcp", address)
		if err != nil {
			c.Status, c.Found, c.Mend = StatusBad, fmt.Sprintf("%s does not answer: %v", address, err), "start the service, or change its address in the plan or with --service"
		} else {
			conn.Close()
		}
		checks = append(checks, c)
	}
	return checks
}
