package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"unsafe"
)

// Payloads hands out the payload of each request: random bytes or text, the
// same for the same seed, and different for requests that are near each other,
// so that a reply to another request is told from the right one.
type Payloads struct {
	// random holds every payload as a window at an offset of its own.
	random []byte
	size   int
}

const payloadWindows = 4096

// NewPayloads returns payloads of size bytes, each of the 256 values a byte has.
func NewPayloads(seed int64, size int) *Payloads {
	source := rand.NewPCG(uint64(seed), 0xd1342543de82ef95)
	b := make([]byte, size+payloadWindows)
	for i := 0; i < len(b); i += 8 {
		for j, v := 0, source.Uint64(); j < 8 && i+j < len(b); j++ {
			b[i+j] = byte(v >> (8 * j))
		}
	}
	return &Payloads{random: b, size: size}
}

// textAlphabet has 64 characters that no quoting of a text changes.
const textAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// NewTextPayloads returns payloads of size bytes that are letters, digits, '-' and
// '_', for protocols that carry text and would escape other bytes.
func NewTextPayloads(seed int64, size int) *Payloads {
	p := NewPayloads(seed, size)
	for i, b := range p.random {
		p.random[i] = textAlphabet[b%64]
	}
	return p
}

// At returns the payload of request number op, which nobody may change. It
// allocates nothing.
func (p *Payloads) At(op int64) []byte {
	// An odd step visits every window, and puts neighbours far apart.
	offset := int(uint64(op) * 2731 % payloadWindows)
	return p.random[offset : offset+p.size : offset+p.size]
}

// Text is At as a string.
func (p *Payloads) Text(op int64) string {
	b := p.At(op)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Compare says how a reply differs from the payload of request number op; nil
// when it does not.
func (p *Payloads) Compare(op int64, reply []byte) error {
	want := p.At(op)
	if bytes.Equal(reply, want) {
		return nil
	}
	if len(reply) != len(want) {
		return fmt.Errorf("reply %d: %d bytes, expected %d", op, len(reply), len(want))
	}
	at := 0
	for reply[at] == want[at] {
		at++
	}
	return fmt.Errorf("reply %d: byte %d of %d differs from what was sent", op, at, len(want))
}
