package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The effects of signals, given as the time of each after the first.
func TestSignals(t *testing.T) {
	for name, c := range map[string]struct {
		signals   []os.Signal
		later     []time.Duration
		impatient bool
	}{
		"one":                          {signals: []os.Signal{syscall.SIGTERM}},
		"sent twice by timeout(1)":     {signals: []os.Signal{syscall.SIGTERM}, later: []time.Duration{0}},
		"timeout -s INT":               {signals: []os.Signal{os.Interrupt}, later: []time.Duration{time.Millisecond}},
		"a closed terminal":            {signals: []os.Signal{syscall.SIGHUP}, later: []time.Duration{0, 200 * time.Millisecond}},
		"two kinds at once":            {signals: []os.Signal{syscall.SIGTERM, syscall.SIGHUP}, later: []time.Duration{0}},
		"sent three times":             {signals: []os.Signal{syscall.SIGTERM}, later: []time.Duration{0, signalEcho - 1}},
		"a second one":                 {signals: []os.Signal{syscall.SIGTERM}, later: []time.Duration{signalEcho}, impatient: true},
		"a second Ctrl-C":              {signals: []os.Signal{os.Interrupt}, later: []time.Duration{signalEcho}, impatient: true},
		"Ctrl-C after a hangup":        {signals: []os.Signal{syscall.SIGHUP, os.Interrupt}, later: []time.Duration{time.Second}, impatient: true},
		"a second one after an echo":   {signals: []os.Signal{syscall.SIGTERM}, later: []time.Duration{0, time.Minute}, impatient: true},
		"a third one when all is said": {signals: []os.Signal{os.Interrupt}, later: []time.Duration{time.Second, 2 * time.Second}, impatient: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals, done := make(chan os.Signal, 2), make(chan struct{})
				first, again := 0, 0
				go heed(signals, done, func(reason os.Signal) { first++; assert.Equal(t, c.signals[0], reason) }, func() { again++ })
				synctest.Wait()
				assert.Zero(t, first, "no message")

				started := time.Now()
				signals <- c.signals[0]
				for _, at := range c.later {
					synctest.Wait()
					time.Sleep(at - time.Since(started))
					signals <- c.signals[len(c.signals)-1]
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
		stopped{os.Interrupt}: Exit(ExitInterrupted), stopped{syscall.SIGTERM}: nil, stopped{syscall.SIGHUP}: nil, nil: nil,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(reason)
		derived, stop := context.WithCancel(ctx)
		stop()
		assert.Equal(t, want, Stopped(derived))
	}
}

// A closed terminal ends a run in order, so that it releases its Lease. One that was started with
// nohup goes on.
func TestAHangupIsHeededUnlessItIsIgnored(t *testing.T) {
	t.Cleanup(func() { // Reset alone leaves it ignored
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
		signal.Reset(syscall.SIGHUP)
	})
	heard := func(sent ...syscall.Signal) error {
		ctx, release := UntilSignal(t.Context(), func() {})
		defer release()
		for _, one := range sent {
			require.NoError(t, syscall.Kill(os.Getpid(), one))
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	assert.Equal(t, stopped{syscall.SIGHUP}, heard(syscall.SIGHUP))
	signal.Ignore(syscall.SIGHUP)
	assert.Equal(t, stopped{syscall.SIGTERM}, heard(syscall.SIGHUP, syscall.SIGTERM))
}
