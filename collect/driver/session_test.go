package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pairbench/records"
)

// pair is a session and the driver's ends of its descriptors.
type pair struct {
	session  *Session
	messages *os.File
	commands *os.File
	samples  *os.File
}

func newPair(t *testing.T, limits Limits) pair {
	t.Helper()
	messagesR, messagesW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	commandsR, commandsW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	samples, err := os.Create(filepath.Join(t.TempDir(), "samples"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{messagesR, messagesW, commandsR, commandsW, samples} {
			f.Close()
		}
	})
	return pair{NewSession(messagesR, commandsW, samples, limits), messagesW, commandsR, samples}
}

func (p pair) client() *Client { return NewClient(p.messages, p.commands, p.samples) }

func TestSessionAndClient(t *testing.T) {
	ctx := context.Background()
	p := newPair(t, Limits{Step: 10 * time.Second})
	want := Result{MeasuredOperations: 3, Samples: 3, ElapsedNs: 4000, Runtime: map[string]string{"gogc": "100"}}
	driver := make(chan error, 1)
	go func() {
		c := p.client()
		driver <- errors.Join(
			c.Hello(Hello{Driver: "test"}), c.Ready(), c.WaitGo(), c.Begin(), c.End(want),
			c.WriteSamples(samplesOf(3, false)), c.Done(), c.WaitExit())
	}()
	hello, err := p.session.Hello(ctx)
	if err != nil || hello.Driver != "test" || hello.Protocol != ProtocolVersion {
		t.Fatalf("hello: %+v, %v", hello, err)
	}
	if err := errors.Join(p.session.Ready(ctx), p.session.Go(ctx), p.session.Begin(ctx)); err != nil {
		t.Fatal(err)
	}
	got, err := p.session.End(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if err := p.session.Done(ctx); err != nil {
		t.Fatal(err)
	}
	samples, err := p.session.Samples(3)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(samplesOf(3, false), samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if err := p.session.Exit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-driver; err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range p.session.Steps() {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"hello", "ready", "go", "begin", "end", "done", "exit"}, names); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if d, ok := p.session.Elapsed(CommandGo, TypeEnd); !ok || d <= 0 {
		t.Errorf("go to end: %v, %v", d, ok)
	}
}

func TestSessionNamesWhatTheDriverDidWrong(t *testing.T) {
	for _, c := range []struct {
		name    string
		say     string
		leave   bool
		outcome records.Outcome
		want    string
	}{
		{"wrong message", "{\"type\":\"ready\"}\n", false, records.OutcomeProtocolError, "wait for hello: got ready"},
		{"no JSON", "Segmentation fault\n", false, records.OutcomeProtocolError, `wait for hello: line "Segmentation fault"`},
		{"left", "", true, records.OutcomeProtocolError, "wait for hello: driver closed its messages"},
		{"left inside a line", "{\"type\":", true, records.OutcomeProtocolError, "inside a line"},
		{"too long", strings.Repeat("x", MaxMessageBytes+1), true, records.OutcomeProtocolError, ErrTooLong.Error()},
		{"stated error", "{\"type\":\"error\",\"error\":\"connection refused\"}\n", true, records.OutcomeOperationErrors, "driver reports: connection refused"},
		{"silence", "", false, records.OutcomeTimeout, "nothing within 20ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, Limits{Step: 20 * time.Millisecond})
			if c.leave || c.say != "" {
				p.session.limits.Step = 10 * time.Second
			}
			go func() {
				_, _ = p.messages.WriteString(c.say)
				if c.leave {
					p.messages.Close()
				}
			}()
			_, err := p.session.Hello(context.Background())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if got := OutcomeOf(err); got != c.outcome {
				t.Errorf("outcome %s, want %s", got, c.outcome)
			}
		})
	}
}

func TestSessionInterrupted(t *testing.T) {
	p := newPair(t, Limits{})
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	_, err := p.session.Hello(ctx)
	if OutcomeOf(err) != records.OutcomeInterrupted {
		t.Errorf("got %v", err)
	}
}

func TestSessionCommandToNobody(t *testing.T) {
	p := newPair(t, Limits{Step: 10 * time.Second})
	p.commands.Close()
	err := p.session.Go(context.Background())
	var broken *ProtocolError
	if !errors.As(err, &broken) || !broken.Left {
		t.Errorf("got %v, want a ProtocolError with Left", err)
	}
}

func TestSessionWithoutFrame(t *testing.T) {
	p := newPair(t, Limits{})
	if _, err := p.session.Samples(10); !errors.Is(err, ErrNoFrame) || OutcomeOf(err) != records.OutcomeInvalidResult {
		t.Errorf("got %v", err)
	}
}

func TestClientWhenTheCollectorIsGone(t *testing.T) {
	p := newPair(t, Limits{})
	p.session.commands.Close()
	if err := p.client().WaitGo(); !errors.Is(err, ErrCollectorGone) {
		t.Errorf("wait for go: %v", err)
	}
	p.session.messages.Close()
	if err := p.client().Ready(); !errors.Is(err, ErrCollectorGone) {
		t.Errorf("send ready: %v", err)
	}
}

func TestClientRefusesTheWrongCommand(t *testing.T) {
	for _, line := range []string{"{\"type\":\"exit\"}\n", "{\"type\":\"stop\"}\n", "go\n", "{\"type\":\"go\"}"} {
		p := newPair(t, Limits{})
		_, _ = p.session.commands.WriteString(line)
		p.session.commands.Close()
		if err := p.client().WaitGo(); err == nil {
			t.Errorf("%q was taken for go", line)
		}
	}
}

// TestCommandIsStampedBeforeItIsSent holds what the check of elapsed_ns rests on:
// the interval from go to end, as the collector sees it, holds the driver's own.
func TestCommandIsStampedBeforeItIsSent(t *testing.T) {
	p := newPair(t, Limits{Step: 10 * time.Second})
	// A full pipe keeps the command from going out until somebody reads.
	full := make([]byte, 1<<16)
	if _, err := p.session.commands.Write(full); err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	entered := time.Since(p.session.started)
	go func() { sent <- p.session.Go(context.Background()) }()
	for n := 0; n < len(full)+len("{\"type\":\"go\"}\n"); {
		k, err := p.commands.Read(full)
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	got := time.Since(p.session.started)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	at := time.Duration(p.session.Steps()[0].AtNs)
	if at < entered || at > got {
		t.Errorf("go is stamped %v, it was sent after %v and had arrived by %v", at, entered, got)
	}
}
