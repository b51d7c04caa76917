package leaderelection_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/leaderelection"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/chaos"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

func TestTheFirstLeadsAndWritesTheLeaseAsOthersDo(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; leads a; 5s leads a")
		spec := p.lease().Spec
		assert.Equal(t, "a", spec.HolderIdentity)
		assert.Equal(t, int32(15), *spec.LeaseDurationSeconds)
		assert.Equal(t, int32(0), *spec.LeaseTransitions)
		assert.True(t, spec.AcquireTime.Equal(p.began))
		assert.True(t, spec.RenewTime.Equal(p.began.Add(4*time.Second)), "every two seconds: %v", spec.RenewTime)
		p.play("stop a")
		spec = p.lease().Spec
		assert.Empty(t, spec.HolderIdentity)
		assert.Equal(t, int32(1), *spec.LeaseDurationSeconds)
		p.play("8s join b; leads b")
		spec = p.lease().Spec
		assert.Equal(t, int32(1), *spec.LeaseTransitions)
		assert.True(t, spec.AcquireTime.Equal(p.began.Add(8*time.Second)), "b leads since it took the Lease: %v",
			spec.AcquireTime)
	})
}

// Elections that are no more than a script.
func TestScripts(t *testing.T) {
	for _, test := range []struct{ name, script string }{
		{"a released Lease is taken at once", "join a; join b; 20.3s leads a; follows b; stop a; leads b; returns a; " +
			`says a acquired after "", silent for 0s; says a released <nil>; ` +
			`says b follows a, silent for 0s; says b acquired after "a", silent for 0s`},
		// b takes over when the lease has expired by its own clock.
		{"a dead leader is followed when its lease runs out", "join a; join b; 21s die a; 35s begins b"},
		// Takeover takes a retry period with its jitter.
		{"a released Lease, without the right to watch", "forbid watch; join a; join b; 120.3s leads a; stop a; " +
			"124.7s leads b"},
		// b saw its last renewal late, and tries after a pause.
		{"a dead leader, without the right to watch", "forbid watch; join a; join b; 21s die a; 40.4s leads b"},
		{"a watch that was refused, and is not", "forbid watch; join a; join b; 60s forbid none; " +
			"120.3s stop a; leads b"},
		// An older state that a server has cached may show the Lease as free, or a former leader.
		{"a watch begins at what was read", "forbid watch-any; join a; join b; 20.3s follows b; stop a; leads b"},
		{"a short outage is survived", "join a; join b; 20.001s cut a; 27.001s heal a; 47s leads a; follows b"},
		// A leader that cannot renew ends its work at its deadline, before another replica begins.
		{"an outage ends the work in time", "join a; join b; 21s cut a; 30s ends a; 35s begins b; " +
			"fails a could not be renewed for 10s: ; says a failed, leading true; says a lost"},
		{"silence ends the work in time", "join a; join b; 21s silence a; 30s ends a; 35s begins b; " +
			"fails a could not be renewed for 10s: ; says a lost"},
		// It goes on renewing meanwhile.
		{"work in hand is finished as the leader", "join busy; join b; 1s stop busy; 61s leads busy; follows b; " +
			"finish busy; leads b; returns busy"},
		{"a standby stops at once", "join a; join b; 1s stop b; returns b; leads a"},
		// Deleting a Lease does not stop its holder, so the Lease is not free: the leader creates
		// it again. If the holder has died as well, the Lease expires as if it were there.
		{"a deleted Lease is made anew by its holder", "join a; join b; 21s delete; 22s exists; 81s leads a; " +
			"follows b"},
		{"a deleted Lease of a dead holder expires", "join a; join b; 21s die a; delete; 35s begins b"},
		{"a holder's Lease that is gone at the end", "join a; 21s delete; stop a; returns a; says a released <nil>"},
		// A person who clears the holder by hand wants another replica to lead.
		{"a leader that reads another name stops", "join a; join b; 1s holder c; 2s follows a; never a follows c; " +
			"says b follows c, silent for 0s; " +
			"fails a the Lease kube-system/orrery is held by c"},
		{"a leader that reads no name stops", "join a; 1s holder; 2s follows a; " +
			"fails a the holder was removed from the Lease kube-system/orrery"},
		{"Run waits for work that is slow to end",
			"join slow; 1s holder c; 2s follows slow; runs slow; 5s fails slow held"},
		// A candidate that joins after the leader's death waits for the whole lease, since it saw
		// it first. For people, it says how long the leader has been silent.
		{"a leader that has just died", "join a; 5s die a; join b; 20s begins b; says b follows a, silent for 0s; " +
			`says b acquired after "a", silent for 16s`},
		{"a leader that died long ago", "join a; 5s die a; 35s join b; 50s begins b; " +
			`says b follows a, silent for 31s; says b acquired after "a", silent for 46s`},
		// However long a candidate has known nothing.
		{"a server that is away is waited for", "cut; join a; 3600s follows a; runs a; heal; 3605s leads a"},
		// A kube-apiserver that starts forbids everything until the caches of its authorizer are
		// filled. An elector that begins at that moment takes part afterwards.
		{"a server that forbids everything for a moment", "forbid all; join a; 8s forbid none; 13s leads a; join b; " +
			"70s forbid all; 73s forbid none; 133s leads a; stop a; leads b"},
		{"a server that forbids writes for a moment", "forbid create update; join a; 8s forbid none; 13s leads a"},
		{"a refusal that lasts, whatever came before", "cut; forbid all; join a; 60s heal; 90s fails a leader " +
			"election cannot get the Lease kube-system/orrery: "},
		{"a right that was there and is missing for long", "forbid watch; join a; join b; 20s forbid get watch; " +
			"60s runs b; forbid none; 120s stop a; 125s leads b"},
		{"no right to get", "forbid get; join b; says b failed, leading false; 9s runs b; " +
			"25s fails b leader election cannot get the Lease kube-system/orrery: "},
		{"no right to create", "forbid create; join b; says b failed, leading false; 9s runs b; " +
			"25s fails b leader election cannot create the Lease kube-system/orrery: "},
		{"no right to update", "join a; 1s stop a; forbid update; join b; says b failed, leading false; 9s runs b; " +
			"26s fails b leader election cannot update the Lease kube-system/orrery: "},
		{"no right to update, beside a leader that dies", "join a; 1s die a; forbid update; join b; 24s runs b; " +
			"39s fails b leader election cannot update the Lease kube-system/orrery: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *place) { p.play(test.script) })
		})
	}
}

// Each renewal moves the end of the watch. A standby that opened another one at each expiry would
// not see a release in the pause before.
func TestAStandbyKeepsItsWatchWhileTheLeaderRenews(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		var watches atomic.Int32
		isWatch := verbs("watch")
		p.forbid(func(r *http.Request) bool {
			if isWatch(r) {
				watches.Add(1)
			}
			return false
		})
		p.play("join a; join b; 61s leads a; follows b")
		assert.EqualValues(t, 1, watches.Load(), "watches of the standby in a minute")
	})
}

// A replica that started after the leader's death counted its silence from its own start.
func TestTheSnapshotCountsASilenceFromTheLastRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; join b; 21s die a; 26s join c; 28s follows c")
		assert.Equal(t, 8*time.Second, p.of["b"].Snapshot().Silent)
		assert.Equal(t, 8*time.Second, p.of["c"].Snapshot().Silent)
	})
}

// However wrong the clock that wrote the times in the Lease, candidates do not use them to decide
// how old it is.
func TestClocksOfOtherMachinesDoNotMatter(t *testing.T) {
	for _, skew := range []time.Duration{-1000 * time.Hour, 1000 * time.Hour} {
		inBubble(t, func(t *testing.T, p *place) {
			seconds, stamp := int32(15), api.NewMicroTime(time.Now().Add(skew))
			lease := &api.Lease{ObjectMeta: api.ObjectMeta{Name: "orrery"}}
			lease.Spec = api.LeaseSpec{HolderIdentity: "other", LeaseDurationSeconds: &seconds, AcquireTime: &stamp,
				RenewTime: &stamp}
			_, err := p.leases.Create(t.Context(), lease, api.UpdateOptions{})
			require.NoError(t, err)
			p.play("join b; 15s begins b") // since b saw it first
			assert.Contains(t, p.of["b"].said.String(), `acquired after "other"`)
		})
	}
}

// Another client labels the Lease: the next renewal conflicts, reads the new version, and keeps
// the label.
func TestAConflictIsSolvedByReading(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; 1s leads a")
		p.edit(func(lease *api.Lease) { lease.Labels = map[string]string{"team": "blue"} })
		p.play("11s leads a; never a failed")
		lease := p.lease()
		assert.Equal(t, "blue", lease.Labels["team"])
		assert.Equal(t, int32(0), *lease.Spec.LeaseTransitions)
		assert.True(t, lease.Spec.RenewTime.Equal(p.began.Add(10*time.Second)))
	})
}

// A namespace that is missing is reported at once.
func TestAMissingNamespace(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		b := p.join("b", func(config *leaderelection.Config) {
			config.Leases, config.Namespace = p.leases.InNamespace("missing"), "missing"
		})
		<-b.ended
		assert.Zero(t, time.Since(p.began))
		var access *leaderelection.AccessError
		require.ErrorAs(t, b.err, &access)
		assert.Equal(t, []string{"create", "missing/orrery"}, []string{access.Verb, access.Lease})
		assert.True(t, api.IsNotFound(access))
	})
}

func TestCheckAndSnapshot(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; join b; 3s leads a")
		a, b := p.of["a"], p.of["b"]
		snapshot := a.Snapshot()
		assert.Equal(t, 3*time.Second, time.Since(snapshot.Acquired))
		snapshot.Acquired = time.Time{}
		assert.Equal(t, leaderelection.Snapshot{
			Lease: "kube-system/orrery", Identity: "a", Leading: true, Holder: "a", Silent: time.Second,
		}, snapshot)
		assert.Equal(t, "a", b.Snapshot().Holder)
		assert.Equal(t, time.Second, b.Snapshot().Silent)
		assert.NoError(t, a.Check(0))
		assert.NoError(t, b.Check(0))
		p.play("forbid update; 8s leads a")
		assert.Contains(t, a.Snapshot().LastError, "not you")
		p.play("forbid none; 10s leads a; says a renewed in 0s")
		assert.Empty(t, a.Snapshot().LastError, "the last attempt has succeeded")
	})
}

// The next attempt begins a retry period after the beginning of the last one, or at its end if that
// is later.
func TestRenewalsOfASlowServer(t *testing.T) {
	const second = time.Second
	for _, test := range []struct {
		name    string
		takes   []time.Duration // how long the renewals take; the last for all others
		refused int             // how many are refused
		script  string
		began   []time.Duration // when the first attempts begin
	}{
		{"each answer arrives within the timeout", []time.Duration{4900 * time.Millisecond}, 0,
			"61s leads a; follows b", []time.Duration{2 * second, 6900 * time.Millisecond}},
		{"one without an answer is repeated at once", []time.Duration{6 * second, 2900 * time.Millisecond}, 1,
			"13s leads a", []time.Duration{2 * second, 7 * second}},
		{"one that is refused at once is not repeated in a loop", []time.Duration{0}, 100,
			"11s fails a could not be renewed for 10s: ",
			[]time.Duration{2 * second, 4 * second, 6 * second, 8 * second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *place) {
				p.play("join a; join b; 1s leads a")
				var mu sync.Mutex
				var began []time.Duration
				p.forbid(func(r *http.Request) bool {
					if r.Method != http.MethodPut {
						return false
					}
					mu.Lock()
					takes := test.takes[min(len(began), len(test.takes)-1)]
					began = append(began, time.Since(p.began))
					refused := len(began) <= test.refused
					mu.Unlock()
					time.Sleep(takes)
					return refused
				})
				p.play(test.script)
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, test.began, began[:len(test.began)])
			})
		})
	}
}

// slow delays reads, which ignore their context, and writes.
type slow struct {
	leaderelection.Leases
	read, write time.Duration
}

func (l slow) Get(_ context.Context, name string, opts api.GetOptions) (*api.Lease, error) {
	time.Sleep(l.read)
	return l.Leases.Get(context.Background(), name, opts)
}

func (l slow) Create(ctx context.Context, lease *api.Lease, opts api.UpdateOptions) (*api.Lease, error) {
	select {
	case <-time.After(l.write):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return l.Leases.Create(ctx, lease, opts)
}

// A replica that stops while its first write is under way waits for the answer, and releases the
// Lease; otherwise the others would wait until the Lease expires.
func TestAReplicaThatStopsDuringAWriteLeavesTheLeaseFree(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.join("a", func(config *leaderelection.Config) { config.Leases = slow{config.Leases, 0, 3 * time.Second} })
		p.play(`1s stop a; 3s returns a; says a released <nil>; never a acquired`)
		assert.Empty(t, p.lease().Spec.HolderIdentity)
	})
	// One that stops during the read before takes nothing.
	inBubble(t, func(t *testing.T, p *place) {
		p.join("a", func(config *leaderelection.Config) { config.Leases = slow{config.Leases, 3 * time.Second, 0} })
		p.play(`1s stop a; 3s returns a; never a released`)
	})
}

// An HTTP/2 connection that all requests share goes dead without a notice. A leader has ten
// seconds, and the pings that find such connections take longer. The server is reachable, so the
// leader must not lose its Lease.
func TestALeaderLeavesADeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
		require.NoError(t, err)
		pipes := restclienttest.NewTLSServer(t, server.Handler(), restclienttest.NewAuthority(t),
			func(config *tls.Config) {
				config.NextProtos = []string{"h2"}
			})
		defer server.Stop(context.Background())
		var link chaos.Link
		var dead atomic.Bool // new connections go past the link
		config := pipes.Config()
		config.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dead.Load() {
				return pipes.Dial(ctx, network, addr)
			}
			return link.Dial(pipes.Dial)(ctx, network, addr)
		}
		client, err := leaderelection.NewClient(config, leaderelection.DefaultRenewDeadline)
		require.NoError(t, err)
		defer client.Close()
		used := client.Config()
		assert.Equal(t, []any{float32(-1), -1, 5 * time.Second}, []any{used.QPS, used.MaxRetries, used.Timeout},
			"no rate limit, no retries, and time for a second attempt")
		elector, err := leaderelection.New(leaderelection.Config{
			Leases: restclient.Typed[*api.Lease](client, api.LeasesResource, "kube-system"), Namespace: "kube-system",
			Name: "orrery", Identity: "a",
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- elector.Run(ctx, func(context.Context) { <-ctx.Done() }) }()
		time.Sleep(5 * time.Second)
		require.True(t, elector.Snapshot().Leading)
		dead.Store(true)
		link.BlackHole(true)
		time.Sleep(time.Minute)
		assert.True(t, elector.Snapshot().Leading)
		stop()
		assert.NoError(t, <-ended)
	})
}

func TestIdentitiesAreUnique(t *testing.T) {
	first, second := leaderelection.NewIdentity(), leaderelection.NewIdentity()
	assert.Regexp(t, `^.+_[A-Z2-7]{26}$`, first)
	assert.NotEqual(t, first, second)
}
