package engine

import (
	"context"
	"net"
	"time"

	"pairbench/collect/driver"
	"pairbench/records"
)

// Work is a job that is connected and can be warmed up and measured. All its
// methods are called in this order and from the goroutine that opened it.
type Work interface {
	// WarmUp carries out the job's warm-up. Failed operations are counted, not
	// returned; an error means that nothing can be measured.
	WarmUp() error
	// Measure carries out the measured interval. begin is called directly before
	// the interval starts, with all memory in place.
	Measure(begin func() error) error
	// Result says what was counted, Samples what was recorded, in the order of
	// completion; both are valid after Measure.
	Result() driver.Result
	Samples() records.Samples
	// Close disconnects.
	Close() error
}

// Dial opens a network connection for a client library. In the callback and
// coroutine arms its Read and Write suspend the caller, and it must only be used
// on the coroutine that Workload.Open was called on.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// dialTimeout bounds one connect.
const dialTimeout = 10 * time.Second

// Workload makes the connections that the engine leases to requests.
type Workload interface {
	// Open connects connection number no of the pool, counted from 0, through
	// dial, and checks that the server is the right one.
	Open(no int, dial Dial) (Conn, error)
	// Describe adds what the connections told about themselves to the result's
	// runtime settings and versions. It is called once, after Measure.
	Describe(r *driver.Result)
}

// Conn is one connection of the pool, used by one request at a time.
type Conn interface {
	// Do carries out sample number op (counted from 0, warm-up first), which is
	// one request or one batch, and checks every reply. An error that leaves the
	// connection unusable is a *LostError.
	Do(op int64) error
	// Close disconnects.
	Close() error
}

// LostError says that a connection cannot be used any more.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }

func (e *LostError) Unwrap() error { return e.Err }
