package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pairbench/records/bundle"
)

var (
	kills    = flag.Int("kills", 6, "how often TestCrash kills a collection")
	killSeed = flag.Uint64("kill-seed", 1, "the seed of the moments at which TestCrash kills")
)

// crashPlan is small: each process lives for some ten milliseconds, so that
// kills fall into every part of a collection.
const crashPlan = `plan: 1
study: crash
arms: [{name: callback}, {name: goroutine}]
rounds: 3
order: alternate
suites:
  - id: echo
    workload: redis_echo
    service: {name: redis, kind: redis, mode: embedded}
    factors: {payload_bytes: [16, 64]}
    constants: {connections: 1, outstanding: 1, cadence: continuous}
    warmup: {operations: 10}
    measure: {operations: 200}
`

// builtCommands builds both commands once, side by side as users have them.
func builtCommands(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pairbench", "pbdriver"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, name), "pairbench/cmd/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return filepath.Join(dir, "pairbench")
}

// TestCrash kills collections at random moments with SIGKILL, SIGINT and
// SIGTERM, and resumes them until they are whole: what had been committed stays
// as it was, byte for byte, every process is there once, pairs are whole and in
// the planned order, and the bundle verifies.
func TestCrash(t *testing.T) {
	pairbench := builtCommands(t)
	random := rand.New(rand.NewPCG(*killSeed, 0))
	signals := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}
	killed, kept := 0, 0
	for trial := 0; killed < *kills; trial++ {
		dir := t.TempDir()
		planFile, out := filepath.Join(dir, "crash.yaml"), filepath.Join(dir, "bundle")
		if err := os.WriteFile(planFile, []byte(crashPlan), 0o644); err != nil {
			t.Fatal(err)
		}
		done := false
		for attempt := 0; !done; attempt++ {
			args := []string{"collect", "--out", out, planFile}
			if _, err := os.Stat(filepath.Join(out+bundle.PartialSuffix, filepath.FromSlash(bundle.RunFile))); err == nil {
				args = append(args, "--resume")
			} else if _, err := os.Stat(out); err == nil {
				break
			}
			before := committed(t, out+bundle.PartialSuffix)
			limit := time.Duration(random.IntN(1500)) * time.Millisecond
			last := killed >= *kills || attempt > 20
			sig := signals[random.IntN(len(signals))]
			code, output, fired := runKilled(t, limit, !last, sig, pairbench, args...)
			if fired {
				killed++
			}
			switch {
			case code == exitOK:
				done = true
			case fired && (code == exitInterrupted || code == endedBySignal):
				// Before its handler is in place every signal ends the command.
			case fired:
				t.Fatalf("seed %d, trial %d: after signal %d exit code %d:\n%s", *killSeed, trial, sig, code, output)
			default:
				t.Fatalf("seed %d, trial %d: exit code %d:\n%s", *killSeed, trial, code, output)
			}
			after := committed(t, out+bundle.PartialSuffix)
			if done {
				after = committed(t, out)
			}
			for name, sum := range before {
				// A half pair is run anew as a pair, so its file may be gone or new.
				if now, ok := after[name]; ok && now == sum {
					kept++
				} else if wholePair(before, name) {
					t.Fatalf("seed %d, trial %d: %s of a finished pair was lost or changed", *killSeed, trial, name)
				}
			}
		}
		checkCollected(t, out)
	}
	t.Logf("%d kills, %d times a finished process's samples were found again as they were, none lost", killed, kept)
}

// endedBySignal is what exec says of a process that did not exit by itself.
const endedBySignal = -1

// runKilled runs a command, sends it the signal after the limit, and returns its
// exit code (-1 when the signal ended it) and whether the signal was sent while
// it ran.
func runKilled(t *testing.T, limit time.Duration, kill bool, sig syscall.Signal, name string, args ...string) (int, string, bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	fired := false
	if kill {
		select {
		case err := <-ended:
			return exitOf(t, err), output.String(), false
		case <-time.After(limit):
			fired = cmd.Process.Signal(sig) == nil
		}
	}
	return exitOf(t, <-ended), output.String(), fired
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		t.Fatal(err)
		return -1
	}
}

// committed hashes the sample files of the processes that a bundle has for good:
// of all where it is complete, else of those whose commit, which follows the
// samples, is there.
func committed(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	_, err := os.Stat(filepath.Join(dir, "tagmanifest-sha256.txt"))
	complete := err == nil
	files, err := filepath.Glob(filepath.Join(dir, "data", "samples", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		commit := strings.TrimSuffix(filepath.Base(file), ".parquet") + ".json"
		if _, err := os.Stat(filepath.Join(dir, "commits", commit)); err != nil && !complete {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		sums[filepath.Base(file)] = hex.EncodeToString(sum[:])
	}
	return sums
}

// wholePair reports whether the other process of a pair is there too. Numbers of
// a pair are neighbours by the plan: A odd, B even within a round.
func wholePair(files map[string]string, name string) bool {
	no, err := strconv.Atoi(strings.TrimSuffix(name, ".parquet"))
	if err != nil {
		return false
	}
	other := no + 1
	if no%2 == 0 {
		other = no - 1
	}
	_, ok := files[strconv.Itoa(other)+".parquet"]
	return ok
}

func checkCollected(t *testing.T, dir string) {
	t.Helper()
	found, err := bundle.Verify(dir)
	if err != nil || len(found.Findings) > 0 {
		t.Fatalf("verify: %v, %v", err, found.Findings)
	}
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	processes, err := b.Processes()
	if err != nil {
		t.Fatal(err)
	}
	if len(processes) != 12 {
		t.Fatalf("%d processes, the plan has 12", len(processes))
	}
	sort.Slice(processes, func(i, j int) bool { return processes[i].Slot < processes[j].Slot })
	starts := map[string][]string{}
	for i := 0; i < len(processes); i += 2 {
		first, second := processes[i], processes[i+1]
		if first.CellID != second.CellID || first.Round != second.Round || first.Side == second.Side || !first.FirstInPair || second.FirstInPair {
			t.Errorf("slots %d and %d are no pair: %s and %s", first.Slot, second.Slot, first.ProcessID, second.ProcessID)
		}
		starts[first.CellID] = append(starts[first.CellID], string(first.Side))
	}
	for cell, sides := range starts {
		if got := strings.Join(sides, ""); got != "ABA" && got != "BAB" {
			t.Errorf("cell %s: the starting side goes %s, expected it to alternate", cell, got)
		}
	}
}
