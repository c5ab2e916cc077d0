package engine

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// cpuMask has room for 4096 processors.
type cpuMask [512]byte

// pinProcess pins every thread there is. A thread inherits the mask of the one
// that makes it, so that once all are pinned in one pass, all that come are.
func pinProcess(cpus []int) error {
	var mask cpuMask
	for _, cpu := range cpus {
		if cpu < 0 || cpu >= len(mask)*8 {
			return fmt.Errorf("cpu %d does not exist", cpu)
		}
		mask[cpu/8] |= 1 << (cpu % 8)
	}
	pinned := map[int]bool{}
	for again := true; again; {
		again = false
		threads, err := threadIDs()
		if err != nil {
			return err
		}
		for _, tid := range threads {
			if pinned[tid] {
				continue
			}
			_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(tid), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
			if errno != 0 && errno != syscall.ESRCH {
				return errno
			}
			pinned[tid] = true
			again = true
		}
	}
	return nil
}

// heldCPUs returns the processors that any of the threads may use, ascending.
func heldCPUs() ([]int, bool) {
	threads, err := threadIDs()
	if err != nil {
		return nil, false
	}
	var union cpuMask
	for _, tid := range threads {
		var mask cpuMask
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, uintptr(tid), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
		if errno != 0 {
			continue
		}
		for i, b := range mask {
			union[i] |= b
		}
	}
	var cpus []int
	for i := range len(union) * 8 {
		if union[i/8]&(1<<(i%8)) != 0 {
			cpus = append(cpus, i)
		}
	}
	return cpus, len(cpus) > 0
}

func threadIDs() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
