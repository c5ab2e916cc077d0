package engine

import "pairbench/collect/driver"

// emptyRequest measures the owner loop with an IO side that completes every
// submission at once.
func emptyRequest(kind string) float64 {
	return perCall(func(n int) {
		e := &Engine{
			clock: newClock(), config: Config{Arm: kind, Outstanding: 1, PerSample: 1, Inline: true},
			requests: make([]request, 1), submissions: newRing(1), completions: newRing(1),
		}
		p := e.newPhase(driver.Amount{Operations: int64(n)}, &e.measured)
		p.recorder = newRecorder(n, false)
		o := &owner{e: e, io: echoIO{e}}
		o.phase(p)
	})
}

// echoIO is an IO side without connections.
type echoIO struct{ e *Engine }

func (io echoIO) flush() {
	for no, ok := io.e.submissions.pop(); ok; no, ok = io.e.submissions.pop() {
		io.e.completions.push(no)
	}
}

func (io echoIO) poll() {}

func (io echoIO) idle(bool) {}

func (io echoIO) close() error { return nil }
