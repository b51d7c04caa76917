package program

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// The effects of signals, given as the time of each after the first.
func TestSignals(t *testing.T) {
	for name, c := range map[string]struct {
		signal    os.Signal
		later     []time.Duration
		impatient bool
	}{
		"one":                           {signal: syscall.SIGTERM},
		"one, sent twice by timeout(1)": {signal: syscall.SIGTERM, later: []time.Duration{0}},
		"one, sent three times":         {signal: syscall.SIGTERM, later: []time.Duration{0, signalEcho - 1}},
		"a second one":                  {signal: syscall.SIGTERM, later: []time.Duration{signalEcho}, impatient: true},
		"a second one after an echo":    {signal: syscall.SIGTERM, later: []time.Duration{0, time.Minute}, impatient: true},
		"a third one when all is said":  {signal: syscall.SIGTERM, later: []time.Duration{time.Second, 2 * time.Second}, impatient: true},
		"Ctrl-C":                        {signal: os.Interrupt},
		"Ctrl-C twice, by fast fingers": {signal: os.Interrupt, later: []time.Duration{time.Millisecond}, impatient: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals, done := make(chan os.Signal, 2), make(chan struct{})
				first, again := 0, 0
				go heed(signals, done, func(reason os.Signal) { first++; assert.Equal(t, c.signal, reason) }, func() { again++ })
				synctest.Wait()
				assert.Zero(t, first, "no message")

				started := time.Now()
				signals <- c.signal
				for _, at := range c.later {
					synctest.Wait()
					time.Sleep(at - time.Since(started))
					signals <- c.signal
				}
				synctest.Wait()
				assert.Equal(t, 1, first)
				assert.Equal(t, map[bool]int{true: 1}[c.impatient], again)
				close(done)
			})
		})
	}
}

// stop releases everything, before and after the first signal.
func TestSignalsAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, sent := range []int{0, 1} {
			signals, done := make(chan os.Signal, 2), make(chan struct{})
			for range sent {
				signals <- syscall.SIGINT
			}
			go heed(signals, done, func(os.Signal) {}, func() { t.Error("second signal without one") })
			synctest.Wait()
			close(done) // the bubble ends when all goroutines have
		}
	})
}

// Every command returns this after Ctrl-C, so that a script can tell it from a normal end; a
// supervisor's SIGTERM is no failure.
func TestCtrlCHasAnExitCodeOfItsOwn(t *testing.T) {
	for reason, want := range map[error]error{
		stopped{os.Interrupt}: Exit(ExitInterrupted), stopped{syscall.SIGTERM}: nil, nil: nil,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(reason)
		derived, stop := context.WithCancel(ctx)
		stop()
		assert.Equal(t, want, Stopped(derived))
	}
}
