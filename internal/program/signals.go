package program

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signalEcho is how long after a first SIGTERM another one counts as the same request: timeout(1) sends its signal to the
// program and to the program's group, which makes two. Each Ctrl-C counts.
const signalEcho = 250 * time.Millisecond

// UntilSignal returns a context that ends with the first interrupt or termination signal. A second signal calls again, which
// must not return. release gives the signals back; it may be called more than once.
func UntilSignal(parent context.Context, again func()) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go heed(signals, done, cancel, again)
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		cancel()
	})
}

// heed calls first for the first signal and again for the next one that is not its echo. Then, or when done is closed, it
// returns.
func heed(signals <-chan os.Signal, done <-chan struct{}, first, again func()) {
	var reason os.Signal
	select {
	case reason = <-signals:
		first()
	case <-done:
		return
	}
	for began := time.Now(); ; {
		select {
		case next := <-signals:
			if reason != syscall.SIGTERM || next != reason || time.Since(began) >= signalEcho {
				again()
				return
			}
		case <-done:
			return
		}
	}
}
