//go:build unix

package demo

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// suspendable lets Ctrl-Z suspend a program that has taken the terminal over: lower gives it back
// before, raise takes it again when the program goes on. release gives the signal back.
func suspendable(lower, raise func()) (release func()) {
	suspended, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(suspended, syscall.SIGTSTP)
	signal.Notify(continued, syscall.SIGCONT)
	done := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		for {
			select {
			case <-suspended:
			case <-continued: // after a SIGSTOP, which cannot be caught
				continue
			case <-done:
				return
			}
			lower()
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-continued // the stop takes effect a moment after the call
			raise()
		}
	})
	return func() {
		signal.Stop(suspended)
		signal.Stop(continued)
		close(done)
		waiting.Wait()
	}
}
