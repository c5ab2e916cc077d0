package engine

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"testing"

	"pairbench/collect/driver"
)

func TestRing(t *testing.T) {
	const n = 100_000
	r := newRing(5)
	if len(r.slots) != 8 {
		t.Fatalf("room for %d, expected 8", len(r.slots))
	}
	var room sync.WaitGroup
	credits := make(chan struct{}, 5)
	room.Go(func() {
		for i := range uint32(n) {
			credits <- struct{}{}
			r.push(i)
		}
	})
	for want := uint32(0); want < n; {
		got, ok := r.pop()
		if !ok {
			runtime.Gosched()
			continue
		}
		if got != want {
			t.Fatalf("popped %d, expected %d", got, want)
		}
		want++
		<-credits
	}
	room.Wait()
	if !r.empty() {
		t.Error("the ring is not empty")
	}
}

func TestRecorderGrows(t *testing.T) {
	r := newRecorder(2, true)
	for i := range int64(5000) {
		r.add(i, 2*i, 3*i)
	}
	s := r.samples(9)
	if s.ProcessNo != 9 || s.Len() != 5000 || !r.exceeded {
		t.Fatalf("%d samples of process %d, exceeded %t", s.Len(), s.ProcessNo, r.exceeded)
	}
	for i := range int64(5000) {
		if s.StartNs[i] != i || s.LatencyNs[i] != 2*i || s.ScheduledNs[i] != 3*i {
			t.Fatalf("sample %d: %d %d %d", i, s.StartNs[i], s.LatencyNs[i], s.ScheduledNs[i])
		}
	}
}

func TestMeasuredLoopDoesNotAllocate(t *testing.T) {
	e := &Engine{clock: newClock(), config: Config{PerSample: 1}, requests: make([]request, 1)}
	p := e.newPhase(driver.Amount{Operations: 1 << 40}, &e.measured)
	p.recorder = newRecorder(100_000, true)
	if n := testing.AllocsPerRun(1000, func() {
		p.next(0, p.last)
		p.stamp(&e.requests[0])
		p.settle(&e.requests[0])
	}); n != 0 {
		t.Errorf("a sample allocates %v times", n)
	}
}

func TestArrivals(t *testing.T) {
	const rate, n = 1e5, 200_000
	for _, kind := range []Arrival{ArrivalConstant, ArrivalPoisson} {
		a := newArrivals(Config{Arrival: kind, RatePerSec: rate, Seed: 3})
		b := newArrivals(Config{Arrival: kind, RatePerSec: rate, Seed: 3})
		if a.at != 0 {
			t.Errorf("%s: the first arrival is at %d", kind, a.at)
		}
		var squares float64
		last := int64(0)
		for range n {
			a.advance()
			b.advance()
			if a.at != b.at {
				t.Fatalf("%s: the same seed gives %d and %d", kind, a.at, b.at)
			}
			gap := float64(a.at - last)
			squares += gap * gap
			last = a.at
		}
		mean := float64(last) / n
		deviation := math.Sqrt(squares/n - mean*mean)
		wantDeviation := 0.0
		if kind == ArrivalPoisson {
			wantDeviation = 1e9 / rate
		}
		if math.Abs(mean-1e9/rate) > 100 || math.Abs(deviation-wantDeviation) > 200 {
			t.Errorf("%s: gaps of %.0f ns on average with deviation %.0f, expected %.0f and %.0f", kind, mean, deviation, 1e9/rate, wantDeviation)
		}
	}
}

func TestTextPayloadsNeedNoEscape(t *testing.T) {
	p := NewTextPayloads(5, 4096)
	if other := p.Text(1); other == p.Text(2) {
		t.Error("neighbours have the same payload")
	}
	for _, c := range p.random {
		if !bytes.ContainsRune([]byte(textAlphabet), rune(c)) {
			t.Fatalf("character %q", c)
		}
	}
}

func TestPayloads(t *testing.T) {
	p := NewPayloads(5, 64)
	seen := map[string]int64{}
	for op := range int64(payloadWindows) {
		text := p.Text(op)
		if len(text) != 64 || !bytes.Equal(p.At(op), []byte(text)) {
			t.Fatalf("payload %d has %d bytes", op, len(text))
		}
		if earlier, ok := seen[text]; ok {
			t.Fatalf("payloads %d and %d are the same", earlier, op)
		}
		seen[text] = op
	}
	if !bytes.Equal(NewPayloads(5, 64).At(7), p.At(7)) || bytes.Equal(NewPayloads(6, 64).At(7), p.At(7)) {
		t.Error("payloads do not follow the seed")
	}
	var all [256]bool
	for _, b := range p.random {
		all[b] = true
	}
	for b, found := range all {
		if !found {
			t.Errorf("byte %d never appears: payloads are not binary", b)
		}
	}
	reply := bytes.Clone(p.At(3))
	if err := p.Compare(3, reply); err != nil {
		t.Error(err)
	}
	reply[9] ^= 1
	for _, c := range []struct {
		reply []byte
		want  string
	}{
		{reply, "reply 3: byte 9 of 64 differs from what was sent"},
		{reply[:10], "reply 3: 10 bytes, expected 64"},
		{nil, "reply 3: 0 bytes, expected 64"},
	} {
		if err := p.Compare(3, c.reply); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestFormatCPUs(t *testing.T) {
	for want, cpus := range map[string][]int{"": nil, "0": {0}, "0-1": {0, 1}, "0,2-4,7": {0, 2, 3, 4, 7}} {
		if got := formatCPUs(cpus); got != want {
			t.Errorf("%v: %q, expected %q", cpus, got, want)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, settings := range []map[string]any{{"gomaxprocs": 1}, {"gogc": "often"}} {
		if _, err := Apply(driver.Job{Settings: settings}); err == nil {
			t.Errorf("%v was accepted", settings)
		}
	}
	if _, err := Apply(driver.Job{ClientCPUs: []int{4095}}); err == nil {
		t.Error("a processor that is not there was accepted")
	}
}

func TestCalibrate(t *testing.T) {
	c := Calibrate()
	if c.ClockReadNs <= 0 || c.ClockTickNs <= 0 || c.SampleRecordNs <= 0 || c.SampleRecordAllocs != 0 {
		t.Errorf("calibration %+v", c)
	}
	if runtime.GOOS == "linux" && (c.EmptyRequestCallbackNs <= 0 || c.EmptyRequestCoroutineNs <= 0) {
		t.Errorf("calibration %+v", c)
	}
}

func TestCutErrors(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 600))
	if got := cut(long); len(got) != 503 {
		t.Errorf("%d bytes", len(got))
	}
	if got := cut("short"); got != "short" {
		t.Errorf("got %q", got)
	}
}
