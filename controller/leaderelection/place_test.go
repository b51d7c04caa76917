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
	"orrery/internal/lab/chaos"
	"orrery/internal/lab/clustertest"
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

// inBubble runs a test in a synctest bubble with a place of its own.
func inBubble(t *testing.T, test func(t *testing.T, p *place)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &place{t: t, began: time.Now(), of: map[string]*participant{}, working: map[string]bool{}}
		p.Cluster = clustertest.Start(t, clustertest.Bare, p.refusing)
		p.leases = restclient.Typed[*api.Lease](p.Admin(), api.LeasesResource, "kube-system")
		test(t, p)
		p.mu.Lock()
		defer p.mu.Unlock()
		assert.Empty(t, p.both, "two worked at the same time")
	})
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

// verbs returns a function that reports whether a request has one of these verbs; all is each.
func verbs(names ...string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		verb := map[string]string{"GET": "get", "POST": "create", "PUT": "update"}[r.Method]
		if r.URL.Query().Get("watch") != "" {
			verb = "watch"
			if r.URL.Query().Get("resourceVersion") == "" {
				verb = "watch-any"
			}
		}
		for _, name := range names {
			if name == verb || name == "all" {
				return true
			}
		}
		return false
	}
}

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
	link     chaos.Link
	fence    leaderelection.Fence
	finish   chan struct{} // the work of a busy participant returns when it is closed
	stop     context.CancelFunc
	ended    chan struct{}
	err      error // of Run, after ended
	said     clustertest.Buffer
}

// join starts a participant, which is stopped when the test ends.
func (p *place) join(identity string, change ...func(*leaderelection.Config)) *participant {
	p.t.Helper()
	a := &participant{place: p, identity: identity, finish: make(chan struct{}), ended: make(chan struct{})}
	client := p.Client(func(config *restclient.Config) {
		config.Dial = a.link.Dial(p.Link.Dial)
		config.MaxRetries = -1
	})
	config := leaderelection.Config{
		Leases:    restclient.Typed[*api.Lease](client, api.LeasesResource, "kube-system"),
		Namespace: "kube-system", Name: "orrery", Identity: identity, Fence: &a.fence, Trace: a.trace(),
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
		a.err = a.Run(ctx, func(alive context.Context) { a.work(ctx, alive) })
	}()
	p.t.Cleanup(func() { cancel(); a.link.Cut(); <-a.ended })
	return a
}

// play plays a script: steps with a semicolon between them, such as "21s die a". A step happens at
// its time since the beginning, or else at the time of the step before, when all has come to rest.
//
//	join a           an elector begins; the work of busy goes on after stop
//	stop a           its context ends
//	finish busy      its work returns
//	die a            the process and its machine are gone
//	cut a            its connections break, and new ones are refused; without a name those of all
//	silence a        its link is a black hole
//	heal a           its link works again
//	forbid watch     the server forbids these verbs; all is every request, none is no more, and
//	                 watch-any a watch that begins with a state of any age
//	holder a         somebody edits the holder of the Lease; "holder" removes it
//	delete           somebody deletes the Lease, and exists: there is one
//	leads a          it takes itself for the leader
//	follows a        it does not
//	begins a         it has begun to lead at this millisecond, and ends a: it has ceased to
//	runs a           Run has not returned
//	returns a        it has returned nil
//	fails a text     it has returned an error with this text
//	says a text      the trace of a has reported this, and never a text: it has not
func (p *place) play(script string) {
	p.t.Helper()
	for step := range strings.SplitSeq(script, ";") {
		words := append(strings.Fields(step), "")
		at, err := time.ParseDuration(words[0])
		if err == nil {
			words = words[1:]
		}
		verb, who := words[0], words[1]
		text := strings.TrimSpace(strings.Join(words[2:], " "))
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
			p.join(who)
		case "stop":
			a.stop()
		case "finish":
			close(a.finish)
		case "die":
			a.link.BlackHole(true)
			p.works(who, false)
		case "cut":
			if a == nil {
				p.Link.Refuse(true)
				break
			}
			a.link.Refuse(true)
			a.link.Cut()
		case "silence":
			a.link.BlackHole(true)
		case "heal":
			p.Link.Refuse(false)
			if a != nil {
				a.link.Heal()
			}
		case "forbid":
			p.forbid(verbs(words[1:]...))
		case "holder":
			p.edit(func(lease *api.Lease) { lease.Spec.HolderIdentity = who })
		case "delete":
			require.NoError(p.t, p.leases.Delete(p.t.Context(), "orrery", api.DeleteOptions{}))
		case "exists":
			p.lease()
		case "leads", "begins", "follows", "ends":
			require.Equal(p.t, verb == "leads" || verb == "begins", a.leads(), step)
		case "runs":
			require.False(p.t, a.hasEnded(), step)
		case "returns":
			require.True(p.t, a.hasEnded(), "it waits for something")
			require.NoError(p.t, a.err, step)
		case "fails":
			require.True(p.t, a.hasEnded(), step)
			require.ErrorContains(p.t, a.err, text)
		case "says":
			require.Contains(p.t, a.said.String(), text+"\n")
		case "never":
			require.NotContains(p.t, a.said.String(), text)
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

// work ends when it is asked to stop, that of slow two seconds after the Lease was lost. That of a
// busy participant goes on until finish is closed.
func (a *participant) work(ctx, alive context.Context) {
	a.place.works(a.identity, true)
	defer context.AfterFunc(alive, func() { a.place.works(a.identity, false) })()
	select {
	case <-alive.Done():
		if a.identity == "slow" {
			time.Sleep(2 * time.Second)
		}
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
	say := func(format string, args ...any) { fmt.Fprintf(&a.said, format+"\n", args...) }
	return &leaderelection.Trace{
		Acquired: func(term leaderelection.Term) {
			say("acquired after %q, silent for %v", term.Predecessor, term.Silent)
		},
		Renewed:   func(took time.Duration) { say("renewed in %v", took) },
		Failed:    func(err error, leading bool) { say("failed, leading %v", leading) },
		Lost:      func(error) { say("lost") },
		Released:  func(err error) { say("released %v", err) },
		NewLeader: func(identity string, silent time.Duration) { say("follows %s, silent for %v", identity, silent) },
	}
}

func (a *participant) leads() bool { return a.Snapshot().Leading }
