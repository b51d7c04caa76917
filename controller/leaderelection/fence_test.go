package leaderelection

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wire is a connection that counts written bytes and records a hard close.
type wire struct {
	net.Conn
	written int
	closed  bool
	linger  *int
}

func (w *wire) Write(p []byte) (int, error) { w.written += len(p); return len(p), nil }
func (w *wire) Close() error                { w.closed = true; return nil }
func (w *wire) SetLinger(seconds int) error { w.linger = &seconds; return nil }

// fenced returns a connection behind a fence.
func fenced(t *testing.T, f *Fence) (net.Conn, *wire) {
	t.Helper()
	inner := &wire{}
	conn, err := f.Dial(func(context.Context, string, string) (net.Conn, error) { return inner, nil })(t.Context(),
		"tcp", "a:1")
	require.NoError(t, err)
	return conn, inner
}

// A process that was stopped for longer than its lease resumes in the middle of a request. No
// timer has fired and no context has ended yet, and still its write is not sent.
func TestNothingLeavesAProcessThatWakesUpLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fence Fence
		conn, inner := fenced(t, &fence)
		idle, innerIdle := fenced(t, &fence)
		clock := newClock()
		lost := errors.New("lost")
		hold := newHold(t.Context(), clock, 10*time.Second, fence.close, func() error { return lost })
		fence.guard(hold)
		_, err := conn.Write([]byte("12345"))
		require.NoError(t, err)
		hold.timer.Stop() // suspended as well

		time.Sleep(10*time.Second - 1)
		_, err = conn.Write([]byte("12345"))
		require.NoError(t, err)
		require.True(t, hold.extend(15*time.Second))
		hold.timer.Stop()
		time.Sleep(5*time.Second + 1)
		require.NoError(t, hold.ctx.Err(), "the timer has not fired yet")
		_, err = conn.Write([]byte("12345"))
		assert.ErrorIs(t, err, ErrFenced)
		assert.Equal(t, 10, inner.written)
		assert.True(t, inner.closed)
		assert.True(t, innerIdle.closed, "all connections are closed")
		assert.Zero(t, *innerIdle.linger, "and the kernel discards unsent data")
		assert.Equal(t, lost, context.Cause(hold.ctx))
		_, err = idle.Write([]byte("1"))
		assert.ErrorIs(t, err, ErrFenced)
		_, err = fence.Dial(nil)(t.Context(), "tcp", "a:1")
		assert.ErrorIs(t, err, ErrFenced)
		assert.False(t, hold.extend(time.Hour), "a late renewal does not restore the lease")
	})
}

func TestAFenceWithoutALeaderIsNotThere(t *testing.T) {
	var fence Fence
	conn, inner := fenced(t, &fence)
	_, err := conn.Write([]byte("12345"))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	assert.True(t, inner.closed)
	assert.Empty(t, fence.conns)
	broken := errors.New("broken")
	_, err = fence.Dial(func(context.Context, string, string) (net.Conn, error) { return nil, broken })(t.Context(),
		"tcp", "a:1")
	assert.ErrorIs(t, err, broken)
}

// The lease may be lost while a connection is being made.
func TestAConnectionThatComesTooLateIsClosed(t *testing.T) {
	var fence Fence
	inner := &wire{}
	_, err := fence.Dial(func(context.Context, string, string) (net.Conn, error) {
		fence.close()
		return inner, nil
	})(t.Context(), "tcp", "a:1")
	assert.ErrorIs(t, err, ErrFenced)
	assert.True(t, inner.closed)
}

// The hold also ends by its timer, without a call.
func TestAHoldEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, over := time.Now(), 0
		hold := newHold(t.Context(), newClock(), 10*time.Second, func() { over++ }, func() error { return ErrFenced })
		time.Sleep(6 * time.Second)
		require.True(t, hold.extend(16*time.Second))
		<-hold.ctx.Done()
		assert.Equal(t, 16*time.Second, time.Since(began))
		hold.stop(nil)
		assert.Equal(t, 1, over)
	})
}

func TestTiming(t *testing.T) {
	for _, test := range []struct {
		timing  Timing
		problem string
	}{
		{Timing{}, ""},
		{Timing{LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: time.Second}, ""},
		{Timing{LeaseDuration: 10 * time.Second},
			"--leader-elect-lease-duration (10s) must be longer than --leader-elect-renew-deadline (10s)"},
		{Timing{RetryPeriod: 9 * time.Second},
			"--leader-elect-renew-deadline (10s) must be longer than 1.2 times --leader-elect-retry-period (9s)"},
		{Timing{RetryPeriod: -1}, "--leader-elect-retry-period must be positive"},
		{Timing{RenewDeadline: -1}, "--leader-elect-renew-deadline must be positive"},
		{Timing{LeaseDuration: -1}, "--leader-elect-lease-duration must be positive"},
		{Timing{LeaseDuration: 10 * longestLease}, "--leader-elect-lease-duration must be at most 8760h0m0s"},
	} {
		err := test.timing.Check()
		if test.problem == "" {
			assert.NoError(t, err)
			continue
		}
		var problem *ConfigError
		require.ErrorAs(t, err, &problem)
		assert.Contains(t, err.Error(), test.problem)
	}
	assert.Equal(t, int32(16), Timing{LeaseDuration: 15*time.Second + 1}.leaseSeconds(),
		"rounded up: no candidate may begin too early")
}

// newElector returns an elector of these Leases.
func newElector(t *testing.T, leases Leases, fence *Fence) *Elector {
	t.Helper()
	e, err := New(Config{Leases: leases, Namespace: "kube-system", Name: "orrery", Identity: "a", Fence: fence})
	require.NoError(t, err)
	return e
}

// noLeases is for an elector that sends nothing.
type noLeases struct{ Leases }

func TestAConfigurationThatLacksSomething(t *testing.T) {
	complete := Config{Leases: noLeases{}, Namespace: "kube-system", Name: "orrery", Identity: "a"}
	_, err := New(complete)
	require.NoError(t, err)
	for want, spoil := range map[string]func(*Config){
		"a way to reach its Lease":          func(c *Config) { c.Leases = nil },
		"--leader-elect-resource-namespace": func(c *Config) { c.Namespace = "" },
		"--leader-elect-resource-name ":     func(c *Config) { c.Name = "" },
		"an identity":                       func(c *Config) { c.Identity = "" },
		"--leader-elect-retry-period":       func(c *Config) { c.Timing.RetryPeriod = time.Hour },
	} {
		config := complete
		spoil(&config)
		_, err := New(config)
		assert.ErrorContains(t, err, want)
	}
}

// The check finds an elector that is stuck: one that works ends its term in time.
func TestCheckFindsAnElectorThatIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newElector(t, noLeases{}, nil)
		e.candidate.leading = true
		time.Sleep(20 * time.Second)
		assert.NoError(t, e.Check(5*time.Second))
		time.Sleep(time.Second)
		assert.ErrorContains(t, e.Check(5*time.Second),
			"the Lease kube-system/orrery was renewed 21s ago and lasts for 15s")
	})
}
