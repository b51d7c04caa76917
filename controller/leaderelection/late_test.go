package leaderelection

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// lateLease is a server with one Lease. Its next write is stored `stores` after its arrival and
// answered `answers` after that, also if the client has gone away. Later writes are served at once.
type lateLease struct {
	mu      sync.Mutex // guards the fields below
	lease   *api.Lease
	version int
	stores  time.Duration
	answers time.Duration
	refusal error // the answer to the late write, although it is stored
	wait    bool  // the late write is the one after the next
	late    error // what became of the late write, of a client that has gone away
}

func withoutAnswer() *lateLease             { return &lateLease{answers: time.Second} }
func stored(after time.Duration) *lateLease { return &lateLease{stores: after} }
func answeredBy(code int) *lateLease        { return &lateLease{refusal: refusal(code, "")} }

// later makes the write after the next one the late one.
func (l *lateLease) later() *lateLease {
	l.wait = true
	return l
}

func refusal(code int, reason api.StatusReason) error {
	return api.NewStatusError(api.Status{Status: api.StatusFailure, Code: code, Reason: reason})
}

func (l *lateLease) Get(ctx context.Context, _ string, _ api.GetOptions) (*api.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case l.lease == nil:
		return nil, refusal(http.StatusNotFound, api.ReasonNotFound)
	}
	return l.lease.DeepCopy(), nil
}

func (l *lateLease) Create(ctx context.Context, lease *api.Lease, _ api.UpdateOptions) (*api.Lease, error) {
	return l.write(ctx, lease, true)
}

func (l *lateLease) Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	if opts.DryRun {
		return lease, ctx.Err()
	}
	return l.write(ctx, lease, false)
}

func (l *lateLease) write(ctx context.Context, lease *api.Lease, isNew bool) (*api.Lease, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l.mu.Lock()
	stores, answers, refused := l.stores, l.answers, l.refusal
	if l.wait {
		stores, answers, refused, l.wait = 0, 0, nil, false
	} else {
		l.stores, l.answers, l.refusal = 0, 0, nil
	}
	l.mu.Unlock()
	if stores+answers == 0 {
		stored, err := l.store(lease, isNew)
		if err == nil {
			err = refused
		}
		return stored, err
	}
	type answer struct {
		lease *api.Lease
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		time.Sleep(stores)
		stored, err := l.store(lease, isNew)
		l.mu.Lock()
		l.late = err
		l.mu.Unlock()
		time.Sleep(answers)
		answered <- answer{stored, err}
	}()
	select {
	case a := <-answered:
		return a.lease, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lateLease) store(lease *api.Lease, isNew bool) (*api.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case isNew && l.lease != nil:
		return nil, refusal(http.StatusConflict, api.ReasonAlreadyExists)
	case !isNew && l.lease == nil:
		return nil, refusal(http.StatusNotFound, api.ReasonNotFound)
	case !isNew && l.lease.ResourceVersion != lease.ResourceVersion:
		return nil, refusal(http.StatusConflict, api.ReasonConflict)
	}
	l.version++
	l.lease = lease.DeepCopy()
	l.lease.ResourceVersion = strconv.Itoa(l.version)
	return l.lease.DeepCopy(), nil
}

func (l *lateLease) fate() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.late
}

func (l *lateLease) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lease == nil {
		return ""
	}
	return l.lease.Spec.HolderIdentity
}

// heldBy returns a Lease as the server has it, of a holder that does not renew it.
func heldBy(holder string) *api.Lease {
	c := candidate{identity: holder, name: "orrery", namespace: "kube-system", timing: Timing{}.withDefaults()}
	lease := c.renewal(moment{wall: time.Now()})
	lease.ResourceVersion = "0"
	return lease
}

// A replica that stops while a write of its name is under way leaves a Lease without a holder,
// whenever the server stores that write and whatever it answers. Otherwise the others wait until
// the Lease expires.
func TestAReplicaThatStopsDuringAWriteLeavesTheLeaseFree(t *testing.T) {
	const second, half = time.Second, time.Second / 2
	for name, c := range map[string]struct {
		server *lateLease
		isNew  bool          // there is no Lease
		holder string        // of the Lease
		stops  time.Duration // after the start
	}{
		"an update that is stored, without its answer": {server: withoutAnswer(), stops: half},
		"a create that is stored, without its answer":  {server: withoutAnswer(), isNew: true, stops: half},
		"an update that is stored after the stop":      {server: stored(second), stops: half},
		"a create that is stored after the stop":       {server: stored(second), isNew: true, stops: half},
		"an update that is stored after its timeout":   {server: stored(8 * second), stops: 6 * second},
		"a create that is stored after its timeout":    {server: stored(8 * second), isNew: true, stops: 6 * second},
		"an update that is stored, answered by a 504":  {server: answeredBy(504), stops: second},
		"a create that is stored, answered by a 500":   {server: answeredBy(500), isNew: true, stops: second},
		"a takeover that is stored, without its answer": {server: withoutAnswer(), holder: "dead",
			stops: 15*second + half},
		"a takeover that is stored after the stop": {server: stored(second), holder: "dead",
			stops: 15*second + half},
		"a renewal that is stored, without its answer": {server: withoutAnswer().later(), stops: 2*second + half},
		"a renewal that is stored after the stop":      {server: stored(second).later(), stops: 2*second + half},
		"a renewal that is stored, answered by a 504":  {server: answeredBy(504).later(), stops: 2*second + half},
		"the release itself, without its answer":       {server: withoutAnswer().later(), stops: second},
		"the release itself, stored much later":        {server: stored(8 * second).later(), stops: second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := c.server
				if !c.isNew {
					server.lease = heldBy(c.holder)
				}
				e := newElector(t, server, nil)
				ctx, cancel := context.WithTimeout(t.Context(), c.stops)
				defer cancel()
				require.NoError(t, e.Run(ctx, func(context.Context, Term) { <-ctx.Done() }))
				time.Sleep(20 * time.Second) // the late write has been served
				assert.Empty(t, server.holder(), "the Lease keeps the name of a replica that has stopped")
			})
		})
	}
}

// A late write is refused once the Lease has been released, also if it comes when nothing else is
// under way: a release of a free Lease is a write, so that the resourceVersion changes.
func TestAWriteThatArrivesAfterTheReleaseIsAConflict(t *testing.T) {
	for name, isNew := range map[string]bool{"create": true, "update": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &lateLease{stores: time.Second}
				if !isNew {
					server.lease = heldBy("")
				}
				e := newElector(t, server, nil)
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				require.NoError(t, e.Run(ctx, func(context.Context, Term) { t.Error("it worked without an answer") }))
				time.Sleep(time.Second)
				fate := server.fate()
				assert.Equal(t, conflict, replyOf(fate), "the late write took effect: %v", fate)
			})
		})
	}
}

// A replica whose write failed before another one took the Lease leaves that one alone.
func TestAReplicaThatStopsDoesNotReleaseTheLeaseOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &lateLease{stores: 20 * time.Second, lease: heldBy("")}
		e := newElector(t, server, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
		defer cancel()
		time.AfterFunc(5200*time.Millisecond, func() {
			taken := heldBy("b")
			_, err := server.store(taken, false)
			assert.NoError(t, err)
		})
		require.NoError(t, e.Run(ctx, func(context.Context, Term) { t.Error("it worked without an answer") }))
		time.Sleep(30 * time.Second)
		assert.Equal(t, "b", server.holder())
	})
}

// A standby whose writes were refused has nothing to release: it stops without a request.
func TestARefusedWriteLeavesNothingToRelease(t *testing.T) {
	c := candidate{identity: "a", timing: Timing{}.withDefaults()}
	take := c.answer(request{kind: get}, granted, heldBy(""), 0, moment{})
	require.Equal(t, update, take.kind)
	for err, want := range map[error]requestKind{
		refusal(http.StatusForbidden, api.ReasonForbidden):             nothing,
		refusal(http.StatusTooManyRequests, api.ReasonTooManyRequests): nothing,
		refusal(http.StatusConflict, api.ReasonConflict):               nothing,
		refusal(http.StatusServiceUnavailable, ""):                     get,
		errors.New("connection reset"):                                 get,
	} {
		tried := c
		tried.answer(take, replyOf(err), nil, 0, moment{})
		assert.Equal(t, want, tried.give(moment{}).kind, "%v", err)
	}
}

// observedLease calls released when it gets no holder.
type observedLease struct {
	*lateLease
	released func()
}

func (l *observedLease) Update(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	if lease.Spec.HolderIdentity == "" {
		l.released()
	}
	return l.lateLease.Update(ctx, lease, opts)
}

// When the Lease is released, the work has ended. Requests that are still unsent, such as its
// last Event, go out meanwhile: the lease still lasts. Closing the connections would lose them.
func TestTheFenceIsOpenWhileTheLeaseIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fence Fence
		conn, _ := fenced(t, &fence)
		var alive context.Context
		leases, released := &observedLease{lateLease: &lateLease{lease: heldBy("")}}, false
		leases.released = func() {
			released = true
			assert.Error(t, alive.Err(), "the work is over before another one begins")
			_, err := conn.Write([]byte("12345"))
			assert.NoError(t, err)
		}
		e := newElector(t, leases, &fence)
		require.NoError(t, e.Run(t.Context(), func(ctx context.Context, _ Term) { alive = ctx }))
		assert.True(t, released)
		_, err := conn.Write([]byte("12345"))
		assert.NoError(t, err, "the fence stays open after a clean end")
	})
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
