package echo

import (
	"errors"
	"fmt"
	"net"
	"time"

	"pairbench/collect/driver"
	"pairbench/collect/workload/engine"
)

// maxBatchBytes bounds what a connection has in flight: both ends must be able
// to write it whole into the buffers of their sockets.
const maxBatchBytes = 256 << 10

// params is what the factors and settings of an echo job say.
type params struct {
	arm         string
	connections int
	inFlight    int
	threads     int
	work        int64
	size        int
	stall       time.Duration
}

func readParams(job driver.Job) (params, error) {
	p := params{}
	if err := refuseArrival(job); err != nil {
		return p, err
	}
	var errs [7]error
	number := func(i int, to *int, name string, def, low, high int64) {
		var v int64
		v, errs[i] = job.IntRange(name, def, low, high)
		*to = int(v)
	}
	number(0, &p.connections, "connections", 16, 1, 4096)
	number(1, &p.inFlight, "in_flight", 1, 1, 1024)
	number(2, &p.threads, "threads", 1, 1, 256)
	number(3, &p.size, "payload_bytes", 1024, stampBytes, maxBatchBytes)
	p.work, errs[4] = job.IntRange("work", 0, 0, 1_000_000_000)
	p.arm, errs[5] = engine.Arm(job)
	stall, err := job.IntRange("request_limit_ms", 5000, 1, 3_600_000)
	p.stall, errs[6] = time.Duration(stall)*time.Millisecond, err
	if err := errors.Join(errs[:]...); err != nil {
		return p, err
	}
	if p.inFlight*p.size > maxBatchBytes {
		return p, fmt.Errorf("%d messages of %d bytes in flight, expected at most %d bytes", p.inFlight, p.size, maxBatchBytes)
	}
	return p, nil
}

// connectLimit bounds how long one connection may take.
const connectLimit = 10 * time.Second

// OpenTCP connects and makes memory ready. With job.Service it echoes against
// that address, and otherwise against a server in this process.
func OpenTCP(job driver.Job) (*Workload, error) {
	w, err := openTCP(job)
	if err != nil {
		return nil, fmt.Errorf("open tcp echo: %w", err)
	}
	return w, nil
}

func openTCP(job driver.Job) (*Workload, error) {
	p, err := readParams(job)
	if err != nil {
		return nil, err
	}
	if p.work > 0 && job.Service != nil {
		return nil, fmt.Errorf("work is %d, expected 0 with the server %s: only the server in this process works", p.work, job.Service.Address)
	}
	ends, err := connect(p, job)
	if err != nil {
		return nil, err
	}
	var conns pool
	if p.arm == engine.ArmGoroutine {
		conns = newGoroutines(ends, p, job.Seed)
	} else if conns, err = newEpoll(ends, p, job.Seed); err != nil {
		ends.close()
		return nil, err
	}
	return newWorkload(job, p, conns)
}

// endpoints are the two sides of every connection; server is empty where it is
// not ours.
type endpoints struct {
	client []*net.TCPConn
	server []*net.TCPConn
}

func (e *endpoints) close() {
	for _, c := range e.client {
		c.Close()
	}
	for _, c := range e.server {
		c.Close()
	}
}

func connect(p params, job driver.Job) (_ *endpoints, err error) {
	e := &endpoints{}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	address := ""
	var listener net.Listener
	if job.Service != nil {
		address = job.Service.Address
	} else {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, err
		}
		defer listener.Close()
		address = listener.Addr().String()
	}
	for range p.connections {
		c, err := net.DialTimeout("tcp", address, connectLimit)
		if err != nil {
			return nil, err
		}
		e.client = append(e.client, c.(*net.TCPConn))
		if listener == nil {
			continue
		}
		s, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		e.server = append(e.server, s.(*net.TCPConn))
	}
	return e, nil
}
