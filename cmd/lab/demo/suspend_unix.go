//go:build unix

package demo

import (
	"os/signal"
	"syscall"
)

// unsuspendable ignores Ctrl-Z, which would leave the terminal in the state of the picture. release
// ends that.
func unsuspendable() (release func()) {
	signal.Ignore(syscall.SIGTSTP)
	return func() { signal.Reset(syscall.SIGTSTP) }
}
