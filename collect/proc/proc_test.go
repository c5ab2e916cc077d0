package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ending is the part of Exit that tests compare as a whole.
type ending struct {
	Code, Signal int
	Cause        Cause
	Leftovers    int64
}

const none = -1

func endingOf(e Exit) ending {
	out := ending{Code: none, Signal: none, Cause: e.Cause, Leftovers: none}
	if e.ExitCode != nil {
		out.Code = int(*e.ExitCode)
	}
	if e.Signal != nil {
		out.Signal = int(*e.Signal)
	}
	if e.Leftovers != nil {
		out.Leftovers = *e.Leftovers
	}
	return out
}

func TestEndings(t *testing.T) {
	kill, term := int(syscall.SIGKILL), int(syscall.SIGTERM)
	for _, c := range []struct {
		part  string
		limit time.Duration
		want  ending
	}{
		{part: "quiet", want: ending{0, none, "", 0}},
		{part: "exit3", want: ending{3, none, "", 0}},
		{part: "killself", want: ending{none, kill, "", 0}},
		{part: "hang", limit: 50 * time.Millisecond, want: ending{none, term, CauseTimeLimit, 0}},
		{part: "closes", limit: 50 * time.Millisecond, want: ending{none, term, CauseTimeLimit, 0}},
		{part: "child", want: ending{0, none, "", 1}},
		{part: "daemon", want: ending{0, none, "", 1}},
		{part: "hundred", want: ending{0, none, "", 100}},
		{part: "stderr4m", want: ending{0, none, "", 0}},
		{part: "binary", want: ending{0, none, "", 0}},
	} {
		for _, method := range []RSSMethod{RSSAtSnapshot, RSSAtExit, RSSByLauncher} {
			t.Run(c.part+"/"+[]string{"plain", "traced", "launcher"}[method], func(t *testing.T) {
				b := newBed(t)
				spec := b.spec(c.part)
				spec.RSS = method
				spec.Protocol = method == RSSAtSnapshot
				if c.limit > 0 {
					// A process that heeds SIGTERM uses little of the grace, however
					// busy the machine is.
					spec.TimeLimit, spec.Grace = c.limit, 20*time.Second
				}
				exit := b.run(spec)
				if diff := cmp.Diff(c.want, endingOf(exit)); diff != "" {
					t.Errorf("ending (-want +got):\n%s", diff)
				}
				if exit.Remaining != 0 {
					t.Errorf("%d processes remain, expected none", exit.Remaining)
				}
				if left := members(exit, spec); len(left) != 0 {
					t.Errorf("processes left behind: %v", left)
				}
			})
		}
	}
}

// A process that ignores SIGTERM is ended after the grace.
func TestDeafProcess(t *testing.T) {
	for _, method := range []RSSMethod{RSSAtSnapshot, RSSAtExit, RSSByLauncher} {
		b := newBed(t)
		spec := b.spec("deaf")
		spec.RSS = method
		p := b.start(spec)
		eventually(t, "the process says that it ignores signals", func() bool { return b.read(b.stdout()) != "" })
		p.End()
		want := ending{none, int(syscall.SIGKILL), CauseEnded, 0}
		if got := endingOf(p.Wait(context.Background())); got != want {
			t.Errorf("method %d: ended as %+v, expected %+v", method, got, want)
		}
	}
}

// members looks for processes of this test binary's helpers that outlived
// their start, independently of the package's own scan.
func members(exit Exit, spec Spec) []string {
	var left []string
	stats, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range stats {
		line, err := os.ReadFile(path)
		if err != nil || len(line) == 0 {
			continue
		}
		argv := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		if argv[0] == spec.Argv[0] && len(argv) > 1 && argv[1] == "helper" {
			left = append(left, path+": "+strings.Join(argv, " "))
		}
	}
	return left
}

func TestStartsWithWhatItIsGivenAndNothingElse(t *testing.T) {
	t.Setenv("PAIRBENCH_TEST_NOT_INHERITED", "1")
	for _, protocol := range []bool{false, true} {
		b := newBed(t)
		spec := b.spec("show", "two words", "$HOME", "*", "")
		spec.Env = []string{"A=1", "EMPTY=", "B=x y"}
		spec.Dir = b.dir
		spec.Protocol = protocol
		p := b.start(spec)
		p.Wait(context.Background())
		var got shown
		if err := json.Unmarshal([]byte(b.read(b.stdout())), &got); err != nil {
			t.Fatal(err)
		}
		got.Env = sorted(got.Env)
		want := shown{
			Argv: spec.Argv, Dir: b.dir, Pid: p.Pid(), Session: p.Pid(),
			Env:         sorted(append([]string{TokenEnv + "=" + p.Token()}, spec.Env...)),
			Descriptors: []int{0, 1, 2},
		}
		if protocol {
			want.Descriptors = []int{0, 1, 2, 3, 4, 5}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("protocol %v (-want +got):\n%s", protocol, diff)
		}
	}
}

func TestProtocolFiles(t *testing.T) {
	b := newBed(t)
	spec := b.spec("protocol")
	spec.Protocol = true
	p := b.start(spec)
	if err := p.Messages().SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatalf("messages take no deadline: %v", err)
	}
	line, err := bufio.NewReader(p.Messages()).ReadString('\n')
	if err != nil || line != "done\n" {
		t.Fatalf("read %q, %v; expected done", line, err)
	}
	samples, err := io.ReadAll(p.Samples())
	if err != nil || string(samples) != "the samples" {
		t.Errorf("samples are %q, %v", samples, err)
	}
	if _, err := p.Snapshot(); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(p.Commands(), "exit\n"); err != nil {
		t.Error(err)
	}
	if got, want := endingOf(p.Wait(context.Background())), (ending{0, none, "", 0}); got != want {
		t.Errorf("ended as %+v, expected %+v", got, want)
	}
	if _, err := p.Snapshot(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("snapshot after the end: %v, expected os.ErrProcessDone", err)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name    string
		program string
		cpus    []int
		want    StartKind
	}{
		{name: "empty", program: "", want: StartNotFound},
		{name: "no file", program: filepath.Join(dir, "absent"), want: StartNotFound},
		{name: "not on PATH", program: "pairbench-no-such-program", want: StartNotFound},
		{name: "no permission", program: write("plain", "text", 0o600), want: StartNotExecutable},
		{name: "directory", program: dir, want: StartNotExecutable},
		{name: "no program", program: write("text", "not a program", 0o700), want: StartExecFormat},
		{name: "no interpreter", program: write("script", "#!/no/such/interpreter\n", 0o700), want: StartInterpreter},
		{name: "no such processor", program: "sleep", cpus: []int{0, 1000}, want: StartCPUs},
	} {
		for _, method := range []RSSMethod{RSSAtSnapshot, RSSAtExit, RSSByLauncher} {
			out := filepath.Join(dir, "out")
			_, err := Start(Spec{Argv: []string{c.program}, CPUs: c.cpus, StdoutPath: out, RSS: method})
			var start *StartError
			if !errors.As(err, &start) || start.Kind != c.want {
				t.Errorf("%s, method %d: error is %v, expected kind %s", c.name, method, err, c.want)
			}
			if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: an output file was left: %v", c.name, err)
			}
		}
	}
}

func TestOutputFileIsNotOverwritten(t *testing.T) {
	b := newBed(t)
	if err := os.WriteFile(b.stdout(), []byte("evidence"), 0o600); err != nil {
		t.Fatal(err)
	}
	var start *StartError
	if _, err := Start(b.spec("quiet")); !errors.Is(err, os.ErrExist) || errors.As(err, &start) {
		t.Errorf("error is %v, expected one that says the file exists and blames no program", err)
	}
	if got := b.read(b.stdout()); got != "evidence" {
		t.Errorf("the file now holds %q", got)
	}
}

func TestRunawayOutputIsEnded(t *testing.T) {
	for part, want := range map[string]Cause{"endless": CauseOutputLimit, "endlesssamples": CauseSampleLimit} {
		b := newBed(t)
		spec := b.spec(part)
		spec.Protocol = true
		spec.OutputLimit, spec.SampleLimit = 1<<20, 1<<20
		if exit := b.run(spec); exit.Cause != want {
			t.Errorf("%s: ended by %q, expected %q", part, exit.Cause, want)
		}
	}
}

func TestEndAndCancel(t *testing.T) {
	b := newBed(t)
	p := b.start(b.spec("hang"))
	p.End()
	p.End()
	if exit := p.Wait(context.Background()); exit.Cause != CauseEnded {
		t.Errorf("ended by %q, expected %q", exit.Cause, CauseEnded)
	}
	b = newBed(t)
	p = b.start(b.spec("hang"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if exit := p.Wait(ctx); exit.Cause != CauseCancelled {
		t.Errorf("ended by %q, expected %q", exit.Cause, CauseCancelled)
	}
}

// Daemons that fork and exit without end, so that no number stays theirs, in
// the process's session and in one of their own, are caught by their group.
func TestDaemonsThatOutrunAScan(t *testing.T) {
	for _, script := range []string{
		"h() { h & }; h & exit 0",
		"setsid sh -c 'h() { h & }; h & exit 0' & wait; exit 0",
	} {
		b := newBed(t)
		spec := b.spec("")
		spec.Argv = []string{"sh", "-c", script}
		exit := b.run(spec)
		if *exit.Leftovers == 0 || exit.Remaining != 0 {
			t.Errorf("%s: %d leftovers, %d remain; expected some that were ended", script, *exit.Leftovers, exit.Remaining)
		}
	}
}

// A second process of this package, started in the same instants, is no
// leftover of the first.
func TestOtherProcessesAreLeftAlone(t *testing.T) {
	b, other := newBed(t), newBed(t)
	first := b.start(b.spec("hundred"))
	server := other.start(other.spec("deaf"))
	first.Wait(context.Background())
	if !alive(server.Pid()) {
		t.Error("the other process was ended as a leftover")
	}
}

func TestKilledCollectorLeavesNoProcess(t *testing.T) {
	b := newBed(t)
	collector := again("collector")
	collector.Args = append(collector.Args, b.dir)
	out, err := collector.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := collector.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.stdout(), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := b.pids()[0]
	if !alive(pid) {
		t.Fatalf("process %d is not there", pid)
	}
	collector.Process.Kill()
	collector.Wait()
	eventually(t, "the process dies with its collector", func() bool { return !alive(pid) })
}
