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
	"orrery/internal/lab/clustertest"
	"orrery/internal/lab/faultnet"
	"orrery/restclient"
	"orrery/restclient/api"
)

// place is the built-in API server in a bubble, shared by the candidates.
type place struct {
	*clustertest.Cluster
	t      *testing.T
	leases *restclient.Resource[*api.Lease] // the administrator's
	began  time.Time
	of     map[string]*participant // those that have joined, by identity

	mu      sync.Mutex // guards the fields below
	refuse  func(*http.Request) bool
	working map[string]bool // by identity: its work's context has not ended
	both    []string        // pairs of participants that worked at the same time
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, began: time.Now(), of: map[string]*participant{}, working: map[string]bool{}}
	p.Cluster = clustertest.Start(t, clustertest.Bare, p.refusing)
	p.leases = restclient.Typed[*api.Lease](p.Admin(), api.LeasesResource, "kube-system")
	return p
}

// refusing refuses requests, also those of the administrator.
func (p *place) refusing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		refuse := p.refuse
		p.mu.Unlock()
		if refuse == nil || !refuse(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(api.Status{TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: "Failure", Code: 403, Reason: api.ReasonForbidden, Message: "not you"})
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
	client := p.Client(func(config *restclient.Config) {
		config.Dial = a.link.Dial(p.Link.Dial)
		config.MaxRetries = -1
	})
	leases := restclient.Typed[*api.Lease](client, api.LeasesResource, "kube-system")
	config := leaderelection.Config{
		Leases: leases, Watch: leases, Namespace: "kube-system", Name: "orrery", Identity: identity, Fence: &a.fence,
		Trace: a.trace(),
	}
	for _, f := range change {
		f(&config)
	}
	p.of[identity] = a
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

// play plays a script: steps with a semicolon between them, such as "21s die a". A step happens at
// its time since the beginning, or else at the time of the step before, when all has come to rest.
//
//	join a           an elector begins; "join a polling" has no watch, and busy works on after stop
//	stop a           its context ends
//	finish busy      its work returns
//	die a            the process and its machine are gone
//	cut a            its connections break, and new ones are refused
//	silence a        its link is a black hole
//	heal a           its link works again
//	leads a          it takes itself for the leader
//	follows a        it does not
//	begins a         it has begun to lead at this millisecond, and ends a: it has ceased to
//	returns a        Run has returned nil
func (p *place) play(script string) {
	p.t.Helper()
	for step := range strings.SplitSeq(script, ";") {
		words := strings.Fields(step)
		at, err := time.ParseDuration(words[0])
		if err == nil {
			words = words[1:]
		}
		verb, who := words[0], words[1]
		a, became := p.of[who], verb == "begins" || verb == "ends"
		if became {
			time.Sleep(at - time.Since(p.began) - time.Millisecond)
			synctest.Wait()
			require.Equal(p.t, verb == "ends", a.leads(), "a millisecond before: %s", step)
		}
		time.Sleep(at - time.Since(p.began))
		synctest.Wait()
		switch verb {
		case "join":
			var changes []func(*leaderelection.Config)
			if len(words) > 2 {
				changes = append(changes, without)
			}
			p.join(who, changes...)
		case "stop":
			a.stop()
		case "finish":
			close(a.finish)
		case "die":
			a.die()
		case "cut":
			a.link.Refuse(true)
			a.link.Cut()
		case "silence":
			a.link.BlackHole(true)
		case "heal":
			a.link.Heal()
		case "leads", "begins", "follows", "ends":
			require.Equal(p.t, verb == "leads" || verb == "begins", a.leads(), step)
		case "returns":
			require.True(p.t, a.hasEnded(), "it waits for something")
			require.NoError(p.t, a.err, step)
		default:
			require.Fail(p.t, "there is no such step", step)
		}
	}
	synctest.Wait()
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
