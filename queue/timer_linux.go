package queue

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// punctualTimer is a timer of the kernel's that is read like a file (timerfd). Go's
// own timers end a sleep in epoll_wait, which counts in milliseconds and which the
// kernel prolongs by up to 50 microseconds to save energy; data in a file ends it at
// once.
//
// A goroutine waits for it until Stop. After Stop it cannot be set again.
type punctualTimer struct {
	fd   uintptr
	file *os.File
}

// newPunctualTimer returns nil if the kernel has no file left.
func newPunctualTimer(fire func()) timer {
	const clockMonotonic = 1
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil
	}
	t := &punctualTimer{fd: fd, file: os.NewFile(fd, "timerfd")}
	go t.run(fire)
	return t
}

func (t *punctualTimer) run(fire func()) {
	var expirations [8]byte
	for {
		if _, err := t.file.Read(expirations[:]); err != nil {
			return // Stop has closed it
		}
		fire()
	}
}

// Reset sets the timer. It always says true, because nobody asks.
func (t *punctualTimer) Reset(d time.Duration) bool {
	// A time of zero would switch it off.
	setting := struct{ interval, value syscall.Timespec }{value: syscall.NsecToTimespec(max(int64(d), 1))}
	// It cannot fail: the file is open and the time is valid.
	syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, t.fd, 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
	return true
}

func (t *punctualTimer) Stop() bool { return t.file.Close() == nil }
