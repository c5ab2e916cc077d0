package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// childFiles are the files of one process: the child's ends, closed in the
// collector once the child has them, and the collector's.
type childFiles struct {
	child []*os.File // by descriptor number
	null  *os.File
	// stdout, stderr and written are kept to watch their sizes; nil where there
	// is nothing to watch.
	stdout, stderr, written     *os.File
	messages, commands, samples *os.File
}

func (f *childFiles) open(spec Spec) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the null device: %w", err)
	}
	f.null = null
	f.child = []*os.File{null, null, null}
	if spec.Stdin != nil {
		f.child[0] = spec.Stdin
	}
	if spec.StdoutPath != "" {
		if f.stdout, err = createOutput(spec.StdoutPath); err != nil {
			return err
		}
		f.child[1] = f.stdout
	}
	switch {
	case spec.StderrPath == "":
	case spec.StderrPath == spec.StdoutPath:
		f.child[2] = f.stdout
	default:
		if f.stderr, err = createOutput(spec.StderrPath); err != nil {
			return err
		}
		f.child[2] = f.stderr
	}
	if !spec.Protocol {
		return nil
	}
	var messagesEnd, commandsEnd *os.File
	if f.messages, messagesEnd, err = os.Pipe(); err != nil {
		return fmt.Errorf("create the message pipe: %w", err)
	}
	f.child = append(f.child, messagesEnd)
	if commandsEnd, f.commands, err = os.Pipe(); err != nil {
		return fmt.Errorf("create the command pipe: %w", err)
	}
	f.child = append(f.child, commandsEnd)
	if f.written, f.samples, err = sampleFile(); err != nil {
		return fmt.Errorf("create the sample file: %w", err)
	}
	f.child = append(f.child, f.written)
	return nil
}

// createOutput opens for appending, so that several writers do not overwrite
// each other.
func createOutput(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create output: %w", err)
	}
	return file, nil
}

// descriptors returns the child's ends for fork. Fd puts a pipe into blocking
// mode, which is what programs expect of an inherited one.
func (f *childFiles) descriptors() []uintptr {
	fds := make([]uintptr, len(f.child))
	for i, file := range f.child {
		fds[i] = file.Fd()
		if i > 2 {
			syscall.SetNonblock(int(fds[i]), false)
		}
	}
	return fds
}

func (f *childFiles) closeChildEnds() {
	if f.null != nil {
		f.null.Close()
	}
	for fd, file := range f.child {
		if fd > 2 && file != f.written {
			file.Close()
		}
	}
	f.child = nil
}

func (f *childFiles) closeWatched() {
	for _, file := range []*os.File{f.stdout, f.stderr, f.written} {
		if file != nil {
			file.Close()
		}
	}
}

func (f *childFiles) closeOwnEnds() {
	for _, file := range []*os.File{f.messages, f.commands, f.samples} {
		if file != nil {
			file.Close()
		}
	}
}

// remove undoes open after a failed start.
func (f *childFiles) remove(spec Spec) {
	if f.stdout != nil {
		os.Remove(spec.StdoutPath)
	}
	if f.stderr != nil {
		os.Remove(spec.StderrPath)
	}
	f.closeChildEnds()
	f.closeWatched()
	f.closeOwnEnds()
}

// overLimit looks at what has been written; space is what counts, so that a
// sparse file is not taken for a large one.
func (f *childFiles) overLimit(spec Spec) Cause {
	if over(f.stdout, spec.OutputLimit) || over(f.stderr, spec.OutputLimit) {
		return CauseOutputLimit
	}
	if over(f.written, spec.SampleLimit) {
		return CauseSampleLimit
	}
	return ""
}

func over(file *os.File, limit int64) bool {
	if file == nil || limit < 0 {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Size() > limit
}

// room reports the first file that cannot grow: what its process wrote there
// may have been lost, and what it made of that is no fact about the process.
func (f *childFiles) room() error {
	for _, file := range []*os.File{f.stdout, f.stderr, f.written} {
		if file == nil {
			continue
		}
		if err := canGrow(file); err != nil {
			return err
		}
	}
	return nil
}

// canGrow writes one block more and takes it back. Only a write tells: a limit
// of the process, a quota and a full device have no number in common.
func canGrow(file *os.File) error {
	const block = 4096
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, block))
	return errors.Join(err, file.Truncate(size))
}
