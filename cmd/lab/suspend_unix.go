//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreSuspend ignores Ctrl-Z, which would leave the terminal in the state of the picture. Go
// cannot restore the default action, so it holds until the process ends.
func ignoreSuspend() { signal.Ignore(syscall.SIGTSTP) }
