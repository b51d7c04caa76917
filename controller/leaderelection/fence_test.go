package leaderelection

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// wire is a connection that counts written bytes and records a hard close, and why the context had
// ended by then.
type wire struct {
	net.Conn
	written int
	closed  bool
	work    context.Context
	cause   error
	linger  *int
}

func (w *wire) Write(p []byte) (int, error) { w.written += len(p); return len(p), nil }
func (w *wire) SetLinger(seconds int) error { w.linger = &seconds; return nil }
func (w *wire) Close() error                { w.closed, w.cause = true, context.Cause(w.work); return nil }

// fenced returns a connection behind a fence.
func fenced(t *testing.T, f *Fence) (net.Conn, *wire) {
	t.Helper()
	inner := &wire{work: t.Context()}
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
		lost := errors.New("lost")
		began := time.Now()
		ctx := fence.begin(t.Context(), began.Add(10*time.Second), func() error { return lost })
		inner.work = ctx
		_, err := conn.Write([]byte("12345"))
		require.NoError(t, err)
		fence.term.timer.Stop() // suspended as well

		time.Sleep(10*time.Second - 1)
		_, err = conn.Write([]byte("12345"))
		require.NoError(t, err)
		require.True(t, fence.extend(began.Add(15*time.Second)))
		fence.term.timer.Stop()
		time.Sleep(5*time.Second + 1)
		require.NoError(t, ctx.Err(), "the timer has not fired yet")
		_, err = conn.Write([]byte("12345"))
		assert.ErrorIs(t, err, ErrFenced)
		assert.True(t, IsLost(err), "a refused write comes from the end of the leadership")
		assert.Equal(t, 10, inner.written)
		assert.True(t, inner.closed)
		assert.True(t, innerIdle.closed, "all connections are closed")
		assert.Zero(t, *innerIdle.linger, "and the kernel discards unsent data")
		assert.Equal(t, lost, context.Cause(ctx))
		assert.Equal(t, lost, inner.cause, "work that fails with its connection has ended already")
		_, err = idle.Write([]byte("1"))
		assert.ErrorIs(t, err, ErrFenced)
		_, err = fence.Dial(nil)(t.Context(), "tcp", "a:1")
		assert.ErrorIs(t, err, ErrFenced)
		assert.False(t, fence.extend(began.Add(time.Hour)), "a late renewal does not restore the lease")
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
	broken, late := errors.New("broken"), &wire{work: t.Context()}
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, broken }
	_, err = fence.Dial(dial)(t.Context(), "tcp", "a:1")
	assert.ErrorIs(t, err, broken)

	dial = func(context.Context, string, string) (net.Conn, error) { fence.lose(nil); return late, nil }
	_, err = fence.Dial(dial)(t.Context(), "tcp", "a:1")
	assert.ErrorIs(t, err, ErrFenced, "the lease was lost while the connection was being made")
	assert.True(t, late.closed)
}

// releases calls released when the Lease gets no holder.
type releases struct {
	Leases
	released func()
}

func (l releases) Get(context.Context, string, api.GetOptions) (*api.Lease, error) {
	return &api.Lease{}, nil
}

func (l releases) Update(_ context.Context, lease *api.Lease, _ api.UpdateOptions) (*api.Lease, error) {
	if lease.Spec.HolderIdentity == "" {
		l.released()
	}
	return lease, nil
}

// When the Lease is released, the work has ended. Requests that are still unsent, such as its
// last Event, go out meanwhile: the lease still lasts. Closing the connections would lose them.
func TestTheFenceIsOpenWhileTheLeaseIsGivenBack(t *testing.T) {
	var fence Fence
	conn, _ := fenced(t, &fence)
	var alive context.Context
	released := false
	e, err := New(Config{Namespace: "kube-system", Name: "orrery", Identity: "a", Fence: &fence,
		Leases: releases{released: func() {
			released = true
			assert.Error(t, alive.Err(), "the work is over before another one begins")
			_, err := conn.Write([]byte("12345"))
			assert.NoError(t, err)
		}}})
	require.NoError(t, err)
	require.NoError(t, e.Run(t.Context(), func(ctx context.Context) { alive = ctx }))
	assert.True(t, released)
	assert.Nil(t, fence.term, "no timer closes the fence later")
	_, err = conn.Write([]byte("12345"))
	assert.NoError(t, err, "the fence stays open after a clean end")
}

// Taking, renewing and releasing write the whole Lease. Fields that belong to others, or to a newer
// API, stay.
func TestEachWriteKeepsWhatOthersWroteIntoTheLease(t *testing.T) {
	const text = `{"newTop":1,"metadata":{"newMeta":2,"ownerReferences":[{"uid":"1","newOwner":3}]},
		"spec":{"strategy":"OldestEmulationVersion","preferredHolder":"b","newSpec":4}}`
	var now moment
	lease := &api.Lease{}
	require.NoError(t, json.Unmarshal([]byte(text), lease))
	c := candidate{identity: "a", timing: Timing{}.withDefaults()}
	c.observe(lease, now)
	take := c.renewal(now)
	c.won(take, 0, now)
	writes := map[string]*api.Lease{"take": take, "renew": c.renewal(now), "release": c.give(now).lease}
	for name, lease := range writes {
		data, err := json.Marshal(lease)
		require.NoError(t, err)
		for _, field := range []string{
			`"newTop":1`, `"newMeta":2`, `"newOwner":3`, `"newSpec":4`,
			`"strategy":"OldestEmulationVersion"`, `"preferredHolder":"b"`,
		} {
			assert.Contains(t, string(data), field, name)
		}
	}
}

func TestConfigurations(t *testing.T) {
	for _, test := range []struct {
		spoil   func(c *Config)
		problem string
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Timing = Timing{4 * time.Second, 3 * time.Second, time.Second} }, ""},
		{func(c *Config) { c.Leases = nil }, "needs access to Leases"},
		{func(c *Config) { c.Namespace = "" }, "the namespace"},
		{func(c *Config) { c.Name = "" }, "the name"},
		{func(c *Config) { c.Identity = "" }, "an identity"},
		{func(c *Config) { c.Timing.LeaseDuration = 10 * time.Second },
			"--leader-elect-lease-duration (10s) must be longer than --leader-elect-renew-deadline (10s)"},
		{func(c *Config) { c.Timing.RetryPeriod = 9 * time.Second },
			"--leader-elect-renew-deadline (10s) must be longer than 1.2 times --leader-elect-retry-period (9s)"},
		{func(c *Config) { c.Timing = Timing{RenewDeadline: 12 * time.Second, RetryPeriod: 10 * time.Second} },
			"--leader-elect-renew-deadline (12s) must be longer than 1.2 times --leader-elect-retry-period (10s)"},
		{func(c *Config) { c.Timing.RetryPeriod = -1 }, "must be positive"},
		{func(c *Config) { c.Timing.RenewDeadline = -1 }, "must be positive"},
		{func(c *Config) { c.Timing.LeaseDuration = -1 }, "must be positive"},
		{func(c *Config) { c.Timing.LeaseDuration = 10 * longestLease },
			"--leader-elect-lease-duration must be at most 8760h0m0s"},
	} {
		config := Config{Leases: releases{}, Namespace: "kube-system", Name: "orrery", Identity: "a"}
		test.spoil(&config)
		_, err := New(config)
		if test.problem == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, test.problem)
	}
	assert.Equal(t, int32(16), Timing{LeaseDuration: 15*time.Second + 1}.leaseSeconds(),
		"rounded up: no candidate may begin too early")
}

// The check finds an elector that is stuck: one that works ends its term in time.
func TestCheckFindsAnElectorThatIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Config{Leases: releases{}, Namespace: "kube-system", Name: "orrery", Identity: "a"})
		require.NoError(t, err)
		e.candidate.leading, e.candidate.renewed = true, time.Second
		time.Sleep(21 * time.Second)
		assert.NoError(t, e.Check(5*time.Second))
		time.Sleep(time.Second)
		assert.ErrorContains(t, e.Check(5*time.Second),
			"the Lease kube-system/orrery was renewed 21s ago and lasts for 15s")
	})
}
