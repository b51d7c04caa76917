package leaderelection

import (
	"syscall"
	"time"
	"unsafe"
)

// Clocks of clock_gettime(2) that package time does not offer.
const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// suspended returns how long this machine has been suspended since boot, or 0 if the kernel does
// not report it.
func suspended() time.Duration {
	running, ok1 := readClock(clockMonotonic)
	total, ok2 := readClock(clockBoottime)
	if !ok1 || !ok2 {
		return 0
	}
	return total - running
}

func readClock(id uintptr) (time.Duration, bool) {
	var t syscall.Timespec
	_, _, failure := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), failure == 0
}
