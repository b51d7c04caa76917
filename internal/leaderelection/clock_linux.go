package leaderelection

import (
	"syscall"
	"time"
	"unsafe"
)

// The clocks of clock_gettime(2) that package time does not offer.
const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// suspended is for how long this machine has been suspended since it was started; 0 where the kernel does not say.
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
