package load

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// alarm wakes a goroutine some twenty microseconds after the moment that it asked for, where time.Sleep would take up to
// a millisecond longer: Go's scheduler waits in epoll_wait, which counts in milliseconds. A timer that is a file is
// another event for epoll_wait, and ends it at once. An alarm belongs to one goroutine at a time.
type alarm struct {
	fd     uintptr
	file   *os.File // a timerfd; nil if the kernel had none left. Closed when the alarm is collected.
	buffer [8]byte
}

func newAlarm() *alarm {
	const monotonic = 1
	fd, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, monotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return &alarm{}
	}
	return &alarm{fd: fd, file: os.NewFile(fd, "timerfd")}
}

// sleep returns after d, which must be above zero.
func (a *alarm) sleep(d time.Duration) {
	setting := struct{ interval, value syscall.Timespec }{value: syscall.NsecToTimespec(d.Nanoseconds())}
	if a.file != nil {
		_, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, a.fd, 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
		if errno == 0 {
			if _, err := a.file.Read(a.buffer[:]); err == nil {
				return
			}
		}
	}
	time.Sleep(d)
}
