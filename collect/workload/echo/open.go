package echo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"pairbench/collect/driver"
	"pairbench/collect/workload/echoserver"
	"pairbench/collect/workload/engine"
)

// Open returns tcp_echo for the job: the closed loop of OpenTCP, or an open
// loop where the job names an arrival. An open loop runs on the engine, whose
// requests have a schedule: one message a request, over a pool of connections
// (factors connections, outstanding, payload_bytes).
func Open(job driver.Job) (engine.Work, error) {
	arrival, err := arrival(job)
	if err != nil {
		return nil, err
	}
	if arrival == closedLoop {
		return OpenTCP(job)
	}
	w, err := openScheduled(job)
	if err != nil {
		return nil, fmt.Errorf("open tcp echo: %w", err)
	}
	return w, nil
}

const closedLoop = "closed"

func arrival(job driver.Job) (string, error) {
	return job.Text("arrival", closedLoop, string(engine.ArrivalConstant), string(engine.ArrivalPoisson))
}

// refuseArrival is for workloads that are closed loops: a schedule that nobody
// keeps must not be asked for in vain.
func refuseArrival(job driver.Job) error {
	kind, err := arrival(job)
	if err == nil && kind != closedLoop {
		err = fmt.Errorf("arrival is %q, expected %q: this workload is a closed loop", kind, closedLoop)
	}
	return err
}

func openScheduled(job driver.Job) (engine.Work, error) {
	for _, name := range []string{"in_flight", "threads"} {
		if v, err := job.Int(name, 1); err != nil || v != 1 {
			return nil, errors.Join(err, fmt.Errorf("%s is %d, expected 1 or none: an open loop has connections and outstanding", name, v))
		}
	}
	if v, err := job.Int("work", 0); err != nil || v != 0 {
		return nil, errors.Join(err, fmt.Errorf("work is %d, expected 0: the server of an open loop does none", v))
	}
	size, err := job.IntRange("payload_bytes", 1024, stampBytes, maxBatchBytes)
	if err != nil {
		return nil, err
	}
	m := &messages{payloads: engine.NewPayloads(job.Seed, int(size)), size: int(size)}
	if job.Service != nil {
		m.address = job.Service.Address
		return engine.Open(job, m)
	}
	server, err := echoserver.Listen("127.0.0.1:0", echoserver.TCP)
	if err != nil {
		return nil, err
	}
	w := &served{server: server, ended: make(chan error, 1)}
	go func() { w.ended <- server.Serve() }()
	m.address = server.Address()
	if w.Work, err = engine.Open(job, m); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

// served is work whose server is in this process.
type served struct {
	engine.Work
	server *echoserver.Server
	ended  chan error
}

func (w *served) stop() error {
	w.server.Close()
	return <-w.ended
}

// Close disconnects and ends the server.
func (w *served) Close() error { return errors.Join(w.Work.Close(), w.stop()) }

// messages is TCP echo as an engine.Workload.
type messages struct {
	address  string
	payloads *engine.Payloads
	size     int
}

// Open implements engine.Workload.
func (m *messages) Open(_ int, dial engine.Dial) (engine.Conn, error) {
	c, err := dial(context.Background(), "tcp", m.address)
	if err != nil {
		return nil, err
	}
	return &messageConn{m: m, conn: c, in: make([]byte, m.size)}, nil
}

// Describe implements engine.Workload.
func (m *messages) Describe(r *driver.Result) {
	r.Runtime["reset_policy"] = "none: connections are kept"
}

type messageConn struct {
	m    *messages
	conn net.Conn
	in   []byte
}

// Do sends one message and compares what comes back, byte for byte.
func (c *messageConn) Do(op int64) error {
	if _, err := c.conn.Write(c.m.payloads.At(op)); err != nil {
		return &engine.LostError{Err: err}
	}
	if _, err := io.ReadFull(c.conn, c.in); err != nil {
		return &engine.LostError{Err: err}
	}
	return c.m.payloads.Compare(op, c.in)
}

// Close disconnects.
func (c *messageConn) Close() error { return c.conn.Close() }
