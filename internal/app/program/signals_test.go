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
	term, interrupt, hangup := []os.Signal{syscall.SIGTERM}, []os.Signal{os.Interrupt}, []os.Signal{syscall.SIGHUP}
	const second = time.Second
	mixed := append(hangup, interrupt...)
	for name, c := range map[string]struct {
		signals   []os.Signal
		later     []time.Duration
		impatient bool
	}{
		"one":                        {signals: term},
		"sent twice by timeout(1)":   {signals: term, later: []time.Duration{0}},
		"timeout -s INT":             {signals: interrupt, later: []time.Duration{time.Millisecond}},
		"a closed terminal":          {signals: hangup, later: []time.Duration{0, 200 * time.Millisecond}},
		"two kinds at once":          {signals: append(term, hangup...), later: []time.Duration{0}},
		"sent three times":           {signals: term, later: []time.Duration{0, signalEcho - 1}},
		"a second one":               {signals: term, later: []time.Duration{signalEcho}, impatient: true},
		"a second Ctrl-C":            {signals: interrupt, later: []time.Duration{signalEcho}, impatient: true},
		"Ctrl-C after a hangup":      {signals: mixed, later: []time.Duration{second}, impatient: true},
		"a second one after an echo": {signals: term, later: []time.Duration{0, time.Minute}, impatient: true},
		"Ctrl-C held down":           {signals: interrupt, later: []time.Duration{1, signalEcho}, impatient: true},
		"a third one":                {signals: interrupt, later: []time.Duration{second, 2 * second}, impatient: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals, done := make(chan os.Signal, 2), make(chan struct{})
				first, again := 0, 0
				begin := func(reason os.Signal) {
					first++
					assert.Equal(t, c.signals[0], reason)
				}
				go heed(signals, done, begin, func() { again++ })
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
				assert.Equal(t, map[bool]int{true: 1}[c.impatient], again, "how often a second signal was heard")
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
		stopped{os.Interrupt}:    Exit(ExitInterrupted),
		stopped{syscall.SIGTERM}: nil, stopped{syscall.SIGHUP}: nil, nil: nil,
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
	if !signal.Ignored(syscall.SIGHUP) { // the tests may themselves run under nohup
		assert.Equal(t, stopped{syscall.SIGHUP}, heard(syscall.SIGHUP))
	}
	signal.Ignore(syscall.SIGHUP)
	assert.Equal(t, stopped{syscall.SIGTERM}, heard(syscall.SIGHUP, syscall.SIGTERM))
}
