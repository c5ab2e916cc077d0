package proc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The launcher stands between the collector and a program whose peak resident
// set is read from rusage. A process that executes a program keeps, for rusage,
// the high-water mark of the memory it had before, and that is its parent's:
// under a large collector every program looks large. Under the launcher, a
// program of one page that the collector makes in memory, it looks no larger
// than that.
//
//	collector --fork, exec--> launcher --clone(vfork), exec--> program
//	     <---- fd 6: number of the program, or -errno ----  8 bytes
//	     <---- fd 6: wait status, padding, rusage --------  152 bytes
//
// It blocks all signals for itself and none for the program, which dies with it.
const (
	launcherFD     = 6
	launcherName   = "pairbench-launcher"
	launcherReport = 8 + int(unsafe.Sizeof(syscall.Rusage{}))
	// launcherExecFD is where the launcher's file lies for exec: above all that
	// the child is given.
	launcherExecFD = 64
)

// launcherFile makes the launcher: an ELF header, one segment, the text.
func launcherFile() (*os.File, error) {
	code := launcherCode()
	if code == nil {
		return nil, fmt.Errorf("the launcher on %s: %w", runtime.GOARCH, errors.ErrUnsupported)
	}
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	const base, heads = 0x400000, 64 + 56
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Entry: base + heads, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	size := uint64(heads + len(code))
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base,
		Filesz: size, Memsz: size, Align: 0x10000,
	}
	var image bytes.Buffer
	for _, part := range []any{header, segment, code} {
		if err := binary.Write(&image, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	fd, err := unix.MemfdCreate(launcherName, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create the launcher: %w", err)
	}
	writable := os.NewFile(uintptr(fd), launcherName)
	defer writable.Close()
	if _, err := writable.Write(image.Bytes()); err != nil {
		return nil, fmt.Errorf("write the launcher: %w", err)
	}
	// A file that is open for writing is not executed.
	return os.Open("/proc/self/fd/" + strconv.Itoa(fd))
}

// launchBelow starts the program below the launcher.
func (p *Process) launchBelow(program string, attr *syscall.ProcAttr) error {
	file, err := launcherFile()
	if err != nil {
		return err
	}
	execFD, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, launcherExecFD)
	file.Close()
	if err != nil {
		return fmt.Errorf("open the launcher: %w", err)
	}
	defer unix.Close(execFD)
	report, reportEnd, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("create a pipe for the launcher: %w", err)
	}
	defer reportEnd.Close()
	below := *attr
	for len(below.Files) < launcherFD {
		below.Files = append(below.Files, ^uintptr(0))
	}
	below.Files = append(below.Files, reportEnd.Fd())
	argv := append([]string{launcherName, program}, p.spec.Argv...)
	path := "/proc/self/fd/" + strconv.Itoa(execFD)
	pid, err := syscall.ForkExec(path, argv, &below)
	for tries := 0; err == syscall.ETXTBSY && tries < 100; tries++ {
		// Another thread's fork holds the writable descriptor for an instant.
		runtime.Gosched()
		pid, err = syscall.ForkExec(path, argv, &below)
	}
	if err != nil {
		report.Close()
		return fmt.Errorf("start the launcher: %w", err)
	}
	reportEnd.Close()
	p.pid = pid
	var first [8]byte
	if _, err = io.ReadFull(report, first[:]); err == nil {
		if number := int64(binary.NativeEndian.Uint64(first[:])); number < 0 {
			err = syscall.Errno(-number)
		} else {
			p.programPid = int(number)
		}
	}
	if err != nil {
		report.Close()
		p.discard()
		return err
	}
	p.report = report
	if floor, err := peakRSS(pid); err == nil {
		p.floor = floor
	}
	return nil
}

// readReport replaces what is known of the launcher by what the launcher says
// of the program. A launcher that was killed says nothing.
func (p *Process) readReport() {
	defer p.report.Close()
	var buffer [launcherReport]byte
	if _, err := io.ReadFull(p.report, buffer[:]); err != nil {
		return
	}
	var usage syscall.Rusage
	if _, err := binary.Decode(buffer[8:], binary.NativeEndian, &usage); err != nil {
		return
	}
	p.kept.ExitCode, p.kept.Signal = nil, nil
	p.kept.setStatus(syscall.WaitStatus(binary.NativeEndian.Uint32(buffer[:])))
	p.kept.setUsage(usage)
	p.kept.Peak = &PeakRSS{Bytes: usage.Maxrss << 10, Source: SourceLauncher, FloorBytes: p.floor}
}
