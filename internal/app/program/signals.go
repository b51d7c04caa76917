package program

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signalEcho is how long after a first signal others count as the same request: timeout(1) signals
// both the program and its group, and a terminal that closes does so after its shell.
const signalEcho = 250 * time.Millisecond

// UntilSignal returns a context that ends with the first interrupt or termination signal, or with
// the hangup of a closed terminal. A second signal calls again, which must not return. release
// stops the handling of signals; it may be called more than once.
func UntilSignal(parent context.Context, again func()) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup(1) has it ignored
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go heed(signals, done, func(reason os.Signal) { cancel(stopped{reason}) }, again)
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	})
}

// stopped is the cause of a context ended by a signal.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string { return "stopped by the signal " + s.signal.String() }

// Stopped returns the error of a command that ended normally because the context of [UntilSignal]
// did: after Ctrl-C the [Exit] with 130; nil after SIGTERM, with which a supervisor ends a service,
// and after SIGHUP.
func Stopped(ctx context.Context) error {
	if reason, ok := context.Cause(ctx).(stopped); ok && reason.signal == os.Interrupt {
		return Exit(ExitInterrupted)
	}
	return nil
}

// heed calls first for the first signal and again for the next one that is not its echo. Then, or
// when done is closed, it returns.
func heed(signals <-chan os.Signal, done <-chan struct{}, first func(os.Signal), again func()) {
	select {
	case reason := <-signals:
		first(reason)
	case <-done:
		return
	}
	for began := time.Now(); ; {
		select {
		case <-signals:
			if time.Since(began) >= signalEcho {
				again()
				return
			}
		case <-done:
			return
		}
	}
}
