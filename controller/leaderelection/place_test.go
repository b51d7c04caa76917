package leaderelection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/leaderelection"
	"orrery/informer/reflector"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/faultnet"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// place is the built-in API server in a bubble, shared by the candidates.
type place struct {
	t      *testing.T
	server *apiserver.Server
	pipes  *restclienttest.Server
	leases *restclient.Resource[*api.Lease] // the administrator's

	mu      sync.Mutex // guards the fields below
	refuse  func(*http.Request) bool
	working map[string]bool // by identity: its work's context has not ended
	both    []string        // pairs of participants that worked at the same time
}

func newPlace(t *testing.T) *place {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	p := &place{t: t, server: server, working: map[string]bool{}}
	p.pipes = restclienttest.NewServer(t, p)
	t.Cleanup(func() { assert.NoError(t, server.Stop(context.Background())) })
	p.leases = restclient.Typed[*api.Lease](p.pipes.Client(), api.LeasesResource, "kube-system")
	return p
}

func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	refuse := p.refuse
	p.mu.Unlock()
	if refuse == nil || !refuse(r) {
		p.server.Handler().ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_ = json.NewEncoder(w).Encode(api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: 403, Reason: api.ReasonForbidden, Message: "not you",
	})
}

func (p *place) forbid(refuse func(*http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

// lease returns the Lease on the server.
func (p *place) lease() *api.Lease {
	p.t.Helper()
	lease, err := p.leases.Get(p.t.Context(), "orrery", api.GetOptions{})
	require.NoError(p.t, err)
	return lease
}

// edit changes the Lease as another client would.
func (p *place) edit(change func(*api.Lease)) {
	p.t.Helper()
	lease := p.lease()
	change(lease)
	_, err := p.leases.Update(p.t.Context(), lease, api.UpdateOptions{})
	require.NoError(p.t, err)
}

func (p *place) works(identity string, yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, working := range p.working {
		if yes && working && other != identity {
			p.both = append(p.both, fmt.Sprintf("%s and %s at %v", identity, other, time.Now()))
		}
	}
	p.working[identity] = yes
}

// participant is one elector with its own network link.
type participant struct {
	*leaderelection.Elector
	place    *place
	identity string
	link     faultnet.Link
	fence    leaderelection.Fence
	finish   chan struct{} // the work of a busy participant returns when it is closed
	stop     context.CancelFunc
	ended    chan struct{}
	err      error // of Run, after ended

	mu  sync.Mutex // guards the fields below
	log []string
	// silent is the silence of the leader that the trace reported, and term the participant's own
	// term.
	silent time.Duration
	term   leaderelection.Term
}

// join starts a participant, which is stopped when the test ends.
func (p *place) join(identity string, change ...func(*leaderelection.Config)) *participant {
	p.t.Helper()
	a := &participant{place: p, identity: identity, finish: make(chan struct{}), ended: make(chan struct{})}
	client := p.pipes.Client(func(config *restclient.Config) {
		config.Dial = a.link.Dial(p.pipes.Dial)
		config.MaxRetries = -1
	})
	leases := restclient.Typed[*api.Lease](client, api.LeasesResource, "kube-system")
	config := leaderelection.Config{
		Leases: leases, Watch: leases, Namespace: "kube-system", Name: "orrery", Identity: identity, Fence: &a.fence, Trace: a.trace(),
	}
	for _, f := range change {
		f(&config)
	}
	var err error
	a.Elector, err = leaderelection.New(config)
	require.NoError(p.t, err)
	ctx, cancel := context.WithCancel(p.t.Context())
	a.stop = cancel
	go func() {
		defer close(a.ended)
		a.err = a.Run(ctx, func(alive context.Context, _ leaderelection.Term) { a.work(ctx, alive) })
	}()
	p.t.Cleanup(func() { cancel(); a.link.Cut(); <-a.ended })
	return a
}

// pair starts a leader and a standby, and lets some time pass.
func (p *place) pair(leads string, after time.Duration, change ...func(*leaderelection.Config)) (a, b *participant) {
	p.t.Helper()
	a = p.join(leads, change...)
	synctest.Wait()
	b = p.join("b", change...)
	time.Sleep(after)
	return a, b
}

// hasEnded reports whether Run has returned.
func (a *participant) hasEnded() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

// failure returns the error of Run, when it has returned.
func failure[E error](t *testing.T, a *participant) (err E) {
	t.Helper()
	<-a.ended
	require.ErrorAs(t, a.err, &err)
	return err
}

// work ends when it is asked to stop. That of a busy participant goes on until finish is closed.
func (a *participant) work(ctx, alive context.Context) {
	a.place.works(a.identity, true)
	defer context.AfterFunc(alive, func() { a.place.works(a.identity, false) })()
	select {
	case <-alive.Done():
	case <-ctx.Done():
		if strings.HasPrefix(a.identity, "busy") {
			select {
			case <-a.finish:
			case <-alive.Done():
			}
		}
	}
	a.place.works(a.identity, false)
}

func (a *participant) trace() *leaderelection.Trace {
	return &leaderelection.Trace{
		Acquired: func(term leaderelection.Term) {
			a.note("acquired after %q", term.Predecessor)
			a.term = term
		},
		Lost:     func(error) { a.note("lost") },
		Released: func(err error) { a.note("released %v", err) },
		NewLeader: func(identity string, silent time.Duration) {
			a.note("follows %s", identity)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.silent = silent
		},
		SlowPath:    func() { a.note("slow path") },
		WatchFailed: func(_ error, forbidden bool) { a.note("watch failed, forbidden %v", forbidden) },
	}
}

func (a *participant) leaderSilent() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.silent
}

func (a *participant) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log = append(a.log, fmt.Sprintf(format, args...))
}

// reported returns the trace's calls since the last call.
func (a *participant) reported() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	log := a.log
	a.log = nil
	return log
}

func (a *participant) leads() bool { return a.Snapshot().Leading }

// die ends the process and its machine: it sends nothing any more.
func (a *participant) die() {
	a.link.BlackHole(true)
	a.place.works(a.identity, false)
}

// until blocks until is returns true and returns how long that took.
func until(t *testing.T, what string, done func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !done() {
		require.Less(t, time.Since(began), time.Hour, what)
		time.Sleep(time.Millisecond)
		synctest.Wait()
	}
	return time.Since(began)
}

// without forbids the watch.
func without(config *leaderelection.Config) { config.Watch = reflector.ListerWatcher[*api.Lease](nil) }

// inBubble runs a test in a synctest bubble with a place of its own.
func inBubble(t *testing.T, test func(t *testing.T, p *place)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		test(t, p)
		p.mu.Lock()
		defer p.mu.Unlock()
		assert.Empty(t, p.both, "two worked at the same time")
	})
}
