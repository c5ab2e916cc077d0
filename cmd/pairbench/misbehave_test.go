package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"pairbench/collect/driver"
	"pairbench/records"
)

// leftMark is the variable with the argument of every process that a driver
// leaves: the next driver looks for it.
const leftMark = "LEFT_MARK"

// misbehave is a driver that measures nothing. In round 1, arm b, it does what
// the factor `behave` says; otherwise it is honest, and refuses to work on a
// machine where something of another driver still runs.
func misbehave() error {
	client, job, err := driver.Open()
	if err != nil {
		return err
	}
	if left := running(os.Getenv(leftMark)); left != "" {
		err := fmt.Errorf("the machine is not clean: %s runs", left)
		client.Fail(err)
		return err
	}
	behave, err := job.Text("behave")
	if err != nil {
		return err
	}
	if job.Round != 1 || job.Arm != "b" {
		behave = "honest"
	}
	leave := func(session bool) error {
		child := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 3600 & wait; wait", os.Getenv(leftMark))
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
		return child.Start()
	}
	switch behave {
	case "hangs":
		for {
			time.Sleep(time.Hour)
		}
	case "hangs behind a child":
		if err := leave(false); err != nil {
			return err
		}
		for {
			time.Sleep(time.Hour)
		}
	case "exits with 3":
		os.Exit(3)
	case "endless line":
		line := bytes.Repeat([]byte("x"), 64<<10)
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				return err
			}
		}
	case "endless message":
		line := bytes.Repeat([]byte("x"), 64<<10)
		messages := os.NewFile(driver.FDMessages, "messages")
		for {
			if _, err := messages.Write(line); err != nil {
				return err
			}
		}
	}
	if err := client.Hello(driver.Hello{Driver: "misbehave"}); err != nil {
		return err
	}
	if err := client.Ready(); err != nil {
		return err
	}
	if err := client.WaitGo(); err != nil {
		return err
	}
	if err := client.Begin(); err != nil {
		return err
	}
	if behave == "killed" {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	n := job.Measure.Operations
	step := int64(1000)
	if behave != "honest" {
		step = 5000 // a median that it enters is another one
	}
	var samples records.Samples
	for i := range n {
		samples.StartNs = append(samples.StartNs, i*step)
		samples.LatencyNs = append(samples.LatencyNs, step)
	}
	r := driver.Result{
		MeasuredOperations: n, WarmupOperations: job.Warmup.Operations, ElapsedNs: n * step, Samples: n, ClockTickNs: 1,
		P50Ns: &step, P99Ns: &step,
	}
	for began := time.Now(); time.Since(began).Nanoseconds() < r.ElapsedNs; {
	}
	lie := step + 1
	switch behave {
	case "4 MiB on stderr":
		os.Stderr.Write(bytes.Repeat([]byte("noise!!\n"), 4<<20/8))
		os.Exit(3)
	case "binary output":
		os.Stdout.WriteString("\x00\x1b[2J\x1b]0;owned\x07\xff\xfe<script>alert(1)</script>\u202e|=1+1\r\n")
		os.Stderr.WriteString("\x00\x1b[31m\xc3\x28")
		client.Fail(errors.New("\x00\x1b[2J\u202e<script>|=1+1\r\n"))
		os.Exit(1)
	case "holds its output":
		if err := leave(false); err != nil {
			return err
		}
	case "daemon in another session":
		if err := leave(true); err != nil {
			return err
		}
	case "more operations":
		r.MeasuredOperations, r.Samples = n+1, n+1
	case "no operations":
		r.MeasuredOperations, r.Samples = 0, 0
	case "negative count":
		r.Errors = -1
	case "another number of samples":
		r.Samples--
	case "too fast":
		r.ElapsedNs = 1
	case "too slow":
		r.ElapsedNs = time.Hour.Nanoseconds()
	case "another p50":
		r.P50Ns = &lie
	case "another p99":
		r.P99Ns = &lie
	case "too few samples":
		samples.StartNs, samples.LatencyNs = samples.StartNs[1:], samples.LatencyNs[1:]
	case "too many samples":
		samples.StartNs = append(samples.StartNs, samples.StartNs[n-1])
		samples.LatencyNs = append(samples.LatencyNs, step)
	case "negative sample":
		samples.LatencyNs[n/2] = -1
	case "not monotonic":
		samples.StartNs[n/2] = 0
	}
	if err := client.End(r); err != nil {
		return err
	}
	switch behave {
	case "no samples":
	case "short frame":
		var frame bytes.Buffer
		if err := driver.WriteFrame(&frame, samples); err != nil {
			return err
		}
		os.NewFile(driver.FDSamples, "samples").Write(frame.Bytes()[:frame.Len()/2])
	case "damaged frame":
		var frame bytes.Buffer
		if err := driver.WriteFrame(&frame, samples); err != nil {
			return err
		}
		frame.Bytes()[frame.Len()/2] ^= 1
		os.NewFile(driver.FDSamples, "samples").Write(frame.Bytes())
	case "frame of 2^60 samples":
		head := append([]byte(driver.FrameMagic), 1, 0, 0, 0, 2, 0, 0, 0)
		head = binary.LittleEndian.AppendUint64(head, 1<<60)
		head = binary.LittleEndian.AppendUint64(head, 0)
		head = binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(head))
		os.NewFile(driver.FDSamples, "samples").Write(head)
	default:
		if err := client.WriteSamples(samples); err != nil {
			return err
		}
	}
	if err := client.Done(); err != nil {
		return err
	}
	if err := client.WaitExit(); err != nil {
		return err
	}
	if behave == "exits with 4 at last" {
		os.Exit(4)
	}
	return nil
}

// running returns the command line of a process with the mark among its
// arguments, and nothing where there is none.
func running(mark string) string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file) // of a process that is gone: an error, or nothing
		if args := strings.Split(string(line), "\x00"); err == nil && mark != "" {
			for _, arg := range args {
				if arg == mark {
					return strings.Join(args, " ")
				}
			}
		}
	}
	return ""
}
