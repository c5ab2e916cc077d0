package proc

import (
	"errors"
	"syscall"
	"testing"
)

// What a process could not write for lack of room is told from what it did
// wrong, whichever of its files it was.
func TestNoRoomIsNotTheProcessesFault(t *testing.T) {
	for _, part := range []string{"stderr4m", "foursamples"} {
		b := newBed(t)
		spec := b.spec(part)
		spec.Protocol = true
		if exit := b.run(spec); exit.NoRoom != nil {
			t.Errorf("%s, with room: %v", part, exit.NoRoom)
		}
		b = newBed(t)
		spec = b.spec(part)
		spec.Protocol = true
		restore := limitFiles(t, 1<<20)
		exit := b.run(spec)
		restore()
		if !errors.Is(exit.NoRoom, syscall.EFBIG) {
			t.Errorf("%s, files limited: no room is %v, expected %v", part, exit.NoRoom, syscall.EFBIG)
		}
	}
}

// limitFiles bounds the size of files that this process, and those it starts,
// can write.
func limitFiles(t *testing.T, bytes uint64) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limited := before
	limited.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}
}
