package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signalEcho is for how long after a first SIGTERM another one is taken for the same request. timeout(1) sends its signal to the
// program and to the program's group, which is two at a time. Ctrl-C is pressed by somebody: each counts.
const signalEcho = 250 * time.Millisecond

// untilSignal returns a context that ends with the first interrupt or termination signal. A second one calls
// again, which does not return. release gives the signals back; it may be called more than once.
func untilSignal(parent context.Context, again func()) (ctx context.Context, release func()) {
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

// heed calls first with the first signal and again with the next one that is not its echo. It returns then, or when done is
// closed.
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
