package echo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

var (
	errFull    = errors.New("record sample: the memory for samples is full")
	errStalled = errors.New("no reply in time")
)

// stampBytes at the start of every message hold a number that no other message
// of the connection has, so that a reply to another one is found out.
const stampBytes = 8

// exchange is the client's half of one connection, the same bytes in every arm:
// it writes a batch of messages, takes what comes back and compares it. It has
// no lock; one thread at a time may use it.
type exchange struct {
	phase *phase
	// out is the batch to write; in takes the replies, with room for one byte
	// more than a batch: a full read is a surplus, and a read that is not full
	// has emptied the socket.
	out, in  []byte
	size     int // bytes of a message
	got      int
	stamp    uint64
	started  int64
	inFlight bool
	dead     bool
}

// newExchange returns the exchange of one connection. Its payload comes from
// seed and id alone, so both sides of a pair send the same.
func newExchange(messages, size int, seed int64, id int) *exchange {
	x := &exchange{size: size, out: make([]byte, messages*size), in: make([]byte, messages*size+1)}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], uint64(seed))
	binary.LittleEndian.PutUint64(key[8:], uint64(id))
	rand.NewChaCha8(key).Read(x.out)
	return x
}

// begin takes a permit and makes the next batch ready in out. It reports false
// when the phase has no more, or the connection failed.
func (x *exchange) begin() bool {
	if x.dead || !x.phase.permit() {
		return false
	}
	for at := 0; at < len(x.out); at += x.size {
		x.stamp++
		binary.LittleEndian.PutUint64(x.out[at:], x.stamp)
	}
	x.got = 0
	x.inFlight = true
	x.started = x.phase.now()
	return true
}

// room is where the next reply bytes belong.
func (x *exchange) room() []byte { return x.in[x.got:] }

// received takes n more bytes in room and reports whether the batch is over,
// well or not.
func (x *exchange) received(n int) bool {
	x.got += n
	if x.got < len(x.out) {
		return false
	}
	if x.got > len(x.out) {
		x.broken(fmt.Errorf("%d bytes sent, more came back", len(x.out)))
		return true
	}
	good := bytes.Equal(x.in[:x.got], x.out)
	if !good {
		for at := 0; at < len(x.out); at += x.size {
			x.same(at, x.in[at:at+x.size])
		}
	}
	x.settle(good)
	return true
}

// settle ends a batch whose replies were all right, or not: the right ones of a
// batch with wrong ones are no operations either, for the batch has no sample.
func (x *exchange) settle(good bool) {
	x.inFlight = false
	if good {
		x.phase.deliver(x.started)
	}
}

// same reports whether reply is the message at that place of the batch, and
// counts it as wrong otherwise.
func (x *exchange) same(at int, reply []byte) bool {
	want := x.out[at : at+x.size]
	if bytes.Equal(want, reply) {
		return true
	}
	x.wrong(1, fmt.Errorf("message %d: %s", x.message(at), difference(want, reply)))
	return false
}

// wrong counts messages that were answered wrong; the connection goes on.
func (x *exchange) wrong(messages int64, cause error) {
	x.phase.fail(messages, cause)
}

func (x *exchange) message(at int) uint64 {
	return binary.LittleEndian.Uint64(x.out[at:])
}

// difference says where got is not want.
func difference(want, got []byte) string {
	if len(got) != len(want) {
		return fmt.Sprintf("reply has %d bytes, expected %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Sprintf("reply differs at byte %d: 0x%02x, expected 0x%02x", i, got[i], want[i])
		}
	}
	return "no difference"
}

// broken ends the connection after an error: everything in flight failed.
func (x *exchange) broken(cause error) {
	if x.phase.stopped.Load() {
		x.abandon()
		return
	}
	x.dead = true
	x.inFlight = false
	x.phase.fail(x.phase.perPass, cause)
}

// abandon ends the connection of a batch that is still in flight when its phase
// has been given up.
func (x *exchange) abandon() {
	if x.inFlight {
		x.dead = true
		x.inFlight = false
		x.phase.lose(x.phase.perPass, errStalled)
	}
}

// service is the server's half of one connection.
type service struct {
	size       int   // bytes of a message
	iterations int64 // compute steps for a message
	partial    int
	messages   int64
	seed       uint64
	state      uint64
}

func newService(size int, iterations int64, id int) *service {
	seed := uint64(id) + 1
	return &service{size: size, iterations: iterations, seed: seed, state: seed}
}

// serve does the work of the messages that end within the next n bytes; the
// bytes may go back after it.
func (s *service) serve(n int) {
	s.partial += n
	for s.partial >= s.size {
		s.partial -= s.size
		s.messages++
		s.state = compute(s.state, s.iterations)
	}
}

// check says whether all work was done.
func (s *service) check() error {
	if want := computed(s.seed, s.messages*s.iterations); s.state != want {
		return fmt.Errorf("compute %d steps for %d messages: state is %#x, expected %#x", s.iterations, s.messages, s.state, want)
	}
	return nil
}

func checkAll(all []*service) error {
	for id, s := range all {
		if err := s.check(); err != nil {
			return fmt.Errorf("connection %d: %w", id, err)
		}
	}
	return nil
}

// cause takes off the operation and addresses, which say nothing here.
func cause(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err
	}
	if call := (*os.SyscallError)(nil); errors.As(err, &call) {
		err = call.Err
	}
	return err
}
