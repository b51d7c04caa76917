//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime is what all threads of the process have used so far, in user and in kernel mode.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
