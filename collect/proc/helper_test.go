package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary the programs that the tests start: with
// "helper" as first argument it plays the named part. The part is in argv, not
// in the environment, because some parts clear that.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		part, ok := parts[os.Args[2]]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such part:", os.Args[2])
			os.Exit(99)
		}
		part(os.Args[3:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// parts are the programs. Most are bad on purpose.
var parts = map[string]func(args []string){
	"quiet": func([]string) {},
	"hang":  func([]string) { pause() },
	"deaf": func([]string) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		pause()
	},
	"exit3": func([]string) { os.Exit(3) },
	"killself": func([]string) {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	},
	// A child keeps stdout and stderr, and the protocol's descriptors.
	"child": func([]string) {
		child := again("hang")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.ExtraFiles = protocolFiles()
		must(child.Start())
		fmt.Println(child.Process.Pid)
	},
	// A daemon: forked twice, in a session of its own, without environment.
	"daemon": func([]string) {
		middle := again("daemonmiddle")
		middle.Env = []string{}
		middle.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		middle.Stdout = os.Stdout
		must(middle.Run())
	},
	"daemonmiddle": func([]string) {
		daemon := again("deaf")
		daemon.Env = []string{}
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must(daemon.Start())
		fmt.Println(daemon.Process.Pid)
	},
	"hundred": func([]string) {
		for i := range 100 {
			child := exec.Command("sleep", "3600")
			if i%2 == 0 {
				child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				child.Env = []string{}
			}
			must(child.Start())
		}
	},
	"stderr4m": func([]string) {
		line := strings.Repeat("e", 1023) + "\n"
		for range 4 << 10 {
			io.WriteString(os.Stderr, line)
		}
	},
	"binary": func([]string) { os.Stdout.Write(hostileBytes()) },
	"endless": func([]string) {
		line := make([]byte, 1<<16)
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				pause()
			}
		}
	},
	"endlesssamples": func([]string) {
		file, block := os.NewFile(5, "samples"), make([]byte, 1<<16)
		for {
			file.Write(block)
		}
	},
	"foursamples": func([]string) {
		file, block := os.NewFile(5, "samples"), make([]byte, 1<<20)
		for range 4 {
			file.Write(block)
		}
	},
	"closes": func([]string) {
		for fd := range 6 {
			syscall.Close(fd)
		}
		pause()
	},
	"show": func([]string) {
		dir, err := os.Getwd()
		must(err)
		sid, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
		must(json.NewEncoder(os.Stdout).Encode(shown{
			Argv: os.Args, Env: os.Environ(), Dir: dir, Pid: os.Getpid(), Session: int(sid), Descriptors: descriptors(),
		}))
	},
	// Speaks the shape of the protocol: a line up, a line down, samples.
	"protocol": func(args []string) {
		if len(args) > 0 {
			touch(args[0])
		}
		messages, commands, samples := os.NewFile(3, "messages"), os.NewFile(4, "commands"), os.NewFile(5, "samples")
		_, err := samples.WriteString("the samples")
		must(err)
		fmt.Fprintln(messages, "done")
		_, err = bufio.NewReader(commands).ReadString('\n')
		must(err)
	},
	"touch": func(args []string) { touch(args[0]) },
	// Burns CPU in a child that is waited for, and in one that is not.
	"burnchild": func([]string) {
		must(again("burn").Run())
	},
	"burn": func([]string) {
		burn(100 * time.Millisecond)
	},
	"burnorphan": func([]string) {
		child := again("burnsay")
		out, err := child.StdoutPipe()
		must(err)
		must(child.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		must(err)
	},
	"burnsay": func([]string) {
		burn(100 * time.Millisecond)
		fmt.Println("burnt")
		pause()
	},
	// Starts another process through this package and waits to be killed.
	"collector": func(args []string) {
		p, err := Start(Spec{Argv: []string{os.Args[0], "helper", "hang"}, StdoutPath: filepath.Join(args[0], "out")})
		must(err)
		fmt.Println(p.Pid())
		pause()
	},
}

type shown struct {
	Argv, Env    []string
	Dir          string
	Pid, Session int
	Descriptors  []int
}

// descriptors lists the open ones that the runtime did not open for itself.
func descriptors() []int {
	var open []int
	for fd := range 64 {
		target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err == nil && !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/sys/fs/cgroup/") {
			open = append(open, fd)
		}
	}
	return open
}

// pause waits for a signal that ends the program.
func pause() {
	for {
		time.Sleep(time.Hour)
	}
}

func hostileBytes() []byte { return []byte("a\x00b\x1b[31mred\x1b[0m\xff\xfe\n") }

func again(part string) *exec.Cmd {
	self, err := os.Executable()
	must(err)
	return exec.Command(self, "helper", part)
}

func protocolFiles() []*os.File {
	if _, err := os.NewFile(3, "messages").Stat(); err != nil {
		return nil
	}
	return []*os.File{os.NewFile(3, "messages"), os.NewFile(4, "commands"), os.NewFile(5, "samples")}
}

func touch(mebibytes string) {
	n, err := strconv.Atoi(mebibytes)
	must(err)
	memory, err := syscall.Mmap(-1, 0, n<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	must(err)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	must(syscall.Munmap(memory))
}

func burn(cpu time.Duration) {
	var usage syscall.Rusage
	for usage.Utime.Nano()+usage.Stime.Nano() < cpu.Nanoseconds() {
		must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
}

// bed is where one test starts its processes.
type bed struct {
	t   *testing.T
	dir string
}

func newBed(t *testing.T) bed { return bed{t, t.TempDir()} }

func (b bed) stdout() string { return filepath.Join(b.dir, "stdout") }
func (b bed) stderr() string { return filepath.Join(b.dir, "stderr") }

// spec runs a part of this binary under a limit that no test reaches unless it
// wants to.
func (b bed) spec(part string, args ...string) Spec {
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	return Spec{
		Argv:       append([]string{self, "helper", part}, args...),
		Env:        []string{"PATH=" + os.Getenv("PATH")},
		StdoutPath: b.stdout(), StderrPath: b.stderr(),
		TimeLimit: time.Minute, Grace: 50 * time.Millisecond,
	}
}

func (b bed) start(spec Spec) *Process {
	b.t.Helper()
	p, err := Start(spec)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		p.End()
		p.Wait(context.Background())
		p.Close()
	})
	return p
}

func (b bed) run(spec Spec) Exit {
	b.t.Helper()
	return b.start(spec).Wait(context.Background())
}

func (b bed) read(path string) string {
	b.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(content)
}

// pids reads the process numbers that a part printed.
func (b bed) pids() []int {
	b.t.Helper()
	var pids []int
	for _, word := range strings.Fields(b.read(b.stdout())) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			b.t.Fatalf("the part printed %q, expected process numbers", word)
		}
		pids = append(pids, pid)
	}
	return pids
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// alive says whether a process is there and not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func sorted(values []string) []string {
	values = slices.Clone(values)
	slices.Sort(values)
	return values
}
