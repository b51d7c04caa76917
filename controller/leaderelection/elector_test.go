package leaderelection_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/leaderelection"
	"orrery/internal/lab/apiserver"
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
	})
}

// With the watch, candidates do not wait for a retry period.
func TestALeaseThatIsGivenBackIsTakenAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; join b; 20.3s leads a; follows b; stop a; leads b; returns a")
		assert.Equal(t, []string{`acquired after ""`, "released <nil>"}, p.of["a"].reported())
		assert.Equal(t, []string{"follows a", `acquired after "a"`}, p.of["b"].reported())
		assert.Equal(t, int32(1), *p.lease().Spec.LeaseTransitions)
	})
}

// Elections that are no more than a script.
func TestScripts(t *testing.T) {
	for name, script := range map[string]string{
		// With the watch, a candidate takes over when the lease has expired by its own clock.
		"a dead leader is followed when its lease runs out": "join a; join b; 21s die a; 35s begins b",
		// b saw its last renewal late, and tries after a pause.
		"a dead leader, without the watch": "join a polling; join b polling; 21s die a; 40.4s leads b",
		// Takeover takes a retry period with its jitter.
		"a lease that is given back, without the watch": "join a polling; join b polling; " +
			"120.3s leads a; stop a; 124.7s leads b",
		"a short outage is survived": "join a; join b; 20.001s cut a; 27.001s heal a; 47s leads a; follows b",
		// It goes on renewing meanwhile.
		"work in hand is finished as the leader": "join busy; join b; 1s stop busy; 61s leads busy; follows b; " +
			"finish busy; leads b; returns busy",
		"a standby stops at once": "join a; join b; 1s stop b; returns b; leads a",
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *place) { p.play(script) })
		})
	}
}

// Where the watch is forbidden, takeover takes a retry period as well.
func TestWithoutTheRightToWatchRetriesDo(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.forbid(isWatch)
		p.play("join a; join b; 120.3s leads a; stop a; 124.7s leads b")
		assert.Contains(t, p.of["b"].reported(), "watch failed, forbidden true")
	})
}

// Three refusals of the watch, an open one, three refusals: only refusals in a row end it.
func TestAWatchThatIsRefusedNowAndThenGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		var watches atomic.Int32
		p.forbid(func(r *http.Request) bool { return isWatch(r) && watches.Add(1)%4 != 0 })
		a := p.join("a")
		time.Sleep(time.Hour)
		p.forbid(nil)
		time.Sleep(time.Minute)
		assert.True(t, a.Snapshot().Watching, "refusals with an open watch between them were counted together")
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
			assert.Contains(t, p.of["b"].reported(), `acquired after "other"`)
		})
	}
}

// A leader that cannot renew ends its work at its deadline, before any other replica begins.
func TestALongOutageEndsTheWorkInTime(t *testing.T) {
	for _, fail := range []string{"cut", "silence"} {
		t.Run(fail, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *place) {
				p.play("join a; join b; 21s " + fail + " a; 30s ends a; 35s begins b")
				lost := failure[*leaderelection.LostError](t, p.of["a"])
				assert.False(t, lost.Taken)
				assert.Error(t, lost.Err, "why it could not renew")
				assert.Contains(t, lost.Error(), "could not be renewed for 10s")
				assert.Contains(t, p.of["a"].reported(), "lost")
			})
		})
	}
}

// Another client labels the Lease: the next renewal conflicts, reads the new version, and keeps
// the label.
func TestAConflictIsSolvedByReading(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; 1s leads a")
		p.edit(func(lease *api.Lease) { lease.Labels = map[string]string{"team": "blue"} })
		p.play("11s leads a")
		lease := p.lease()
		assert.Equal(t, "blue", lease.Labels["team"])
		assert.Equal(t, int32(0), *lease.Spec.LeaseTransitions)
		assert.Contains(t, p.of["a"].reported(), "slow path")
	})
}

// Deleting a Lease does not stop its holder, so the Lease is not free: the leader creates it
// again. If the holder has died as well, its lease expires as if the Lease were there.
func TestADeletedLeaseIsMadeAnewByItsHolder(t *testing.T) {
	for _, script := range [][2]string{
		{"join a; join b; 21s leads a", "leads a; 81s leads a; follows b"},
		{"join a; join b; 21s die a", "35s begins b"},
	} {
		inBubble(t, func(t *testing.T, p *place) {
			p.play(script[0])
			require.NoError(t, p.leases.Delete(t.Context(), "orrery", api.DeleteOptions{}))
			p.play(script[1])
			assert.NotEmpty(t, p.lease().Spec.HolderIdentity)
		})
	}
}

// A person who clears the holder by hand wants another replica to lead.
func TestALeaderThatReadsAnotherNameStops(t *testing.T) {
	for _, holder := range []string{"", "c"} {
		inBubble(t, func(t *testing.T, p *place) {
			p.play("join a; 1s leads a")
			p.edit(func(lease *api.Lease) { lease.Spec.HolderIdentity = holder })
			p.play("follows a") // at once: it watches as well
			lost := failure[*leaderelection.LostError](t, p.of["a"])
			assert.True(t, lost.Taken)
			assert.Equal(t, holder, lost.Holder)
			assert.Contains(t, lost.Error(), "kube-system/orrery")
			assert.NotContains(t, p.of["a"].reported(), "follows c", "it does not stand by")
		})
	}
}

// A kube-apiserver that starts forbids everything until the caches of its authorizer are filled. An
// elector that begins at that moment takes part afterwards, and watches.
func TestAServerThatForbidsForAMomentIsWaitedFor(t *testing.T) {
	everything := func(*http.Request) bool { return true }
	for name, refuse := range map[string]func(*http.Request) bool{
		"everything": everything,
		"writes":     func(r *http.Request) bool { return r.Method != http.MethodGet },
		"watches":    isWatch,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *place) {
				p.forbid(refuse)
				a := p.join("a")
				b := p.join("b")
				time.Sleep(8 * time.Second)
				p.forbid(nil)
				until(t, "one leads", func() bool { return a.leads() || b.leads() })
				leader, standby := a, b
				if b.leads() {
					leader, standby = b, a
				}
				time.Sleep(time.Minute)
				assert.True(t, standby.Snapshot().Watching, "the standby gave the watch up: %v", standby.reported())
				p.forbid(everything)
				time.Sleep(3 * time.Second)
				p.forbid(nil)
				time.Sleep(time.Minute)
				require.True(t, leader.leads())
				leader.stop()
				synctest.Wait()
				assert.True(t, standby.leads(), "in no time")
			})
		})
	}
	t.Run("an outage, then 403", func(t *testing.T) {
		inBubble(t, func(t *testing.T, p *place) {
			p.forbid(everything)
			a := p.join("a")
			a.link.Refuse(true)
			a.link.Cut()
			time.Sleep(time.Minute)
			a.link.Heal()
			failure[*leaderelection.AccessError](t, a) // a refusal that lasts ends the elector, whatever came before
		})
	})
}

// reader may read the Lease and not write it.
type reader struct{ leaderelection.Leases }

func (reader) Update(context.Context, *api.Lease, api.UpdateOptions) (*api.Lease, error) {
	refused := api.Status{Code: http.StatusForbidden, Reason: api.ReasonForbidden, Message: "not you"}
	return nil, api.NewStatusError(refused)
}

// The renewals of the leader, which the watch shows every two seconds, do not put the attempts off
// that show whether this user may take part.
func TestAReaderBesideALeaderIsToldSoon(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; leads a")
		b := p.join("b", func(config *leaderelection.Config) { config.Leases = reader{config.Leases} })
		p.play("9s leads a")
		assert.False(t, b.hasEnded(), "a server that starts has ten seconds")
		p.play("29s leads a")
		require.True(t, b.hasEnded(), "renewals of the leader put the answer off")
		assert.Equal(t, "update", failure[*leaderelection.AccessError](t, b).Verb)
	})
}

// A refusal that may pass is reported when it comes, not only at the end.
func TestARefusalIsReportedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; leads a")
		p.forbid(func(r *http.Request) bool { return r.Method == http.MethodPut })
		failed := make(chan error, 100)
		b := p.join("b", func(config *leaderelection.Config) {
			config.Trace = &leaderelection.Trace{Failed: func(err error, _ bool) { failed <- err }}
		})
		synctest.Wait()
		require.Len(t, failed, 1)
		assert.True(t, api.IsForbidden(<-failed))
		assert.Contains(t, b.Snapshot().LastError, "not you")
	})
}

// A setting that can never work is reported at the start; the elector waits for one that may work
// later.
func TestTheStart(t *testing.T) {
	method := func(method string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == method && !isWatch(r) }
	}
	for verb, refuse := range map[string]func(*http.Request) bool{
		"get": method(http.MethodGet), "create": method(http.MethodPost), "update": method(http.MethodPut),
	} {
		t.Run("no right to "+verb, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *place) {
				if verb == "update" {
					p.join("a") // as a leader it would have no update for a long time
					synctest.Wait()
				}
				p.forbid(refuse)
				b := p.join("b")
				access := failure[*leaderelection.AccessError](t, b)
				assert.Equal(t, verb, access.Verb)
				assert.True(t, api.IsForbidden(access))
				assert.Contains(t, access.Error(), "cannot "+verb+" the Lease kube-system/orrery")
			})
		})
	}
	t.Run("no such namespace", func(t *testing.T) {
		inBubble(t, func(t *testing.T, p *place) {
			b := p.join("b", func(config *leaderelection.Config) {
				config.Leases = p.leases.InNamespace("missing")
				config.Namespace = "missing"
				config.Watch = nil
			})
			access := failure[*leaderelection.AccessError](t, b)
			assert.True(t, api.IsNotFound(access))
		})
	})
	t.Run("no other candidate", func(t *testing.T) {
		inBubble(t, func(t *testing.T, p *place) {
			p.Link.Refuse(true)
			b := p.join("b")
			time.Sleep(time.Hour)
			p.Link.Refuse(false)
			until(t, "b leads", b.leads)
		})
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
			Lease: "kube-system/orrery", Identity: "a", Leading: true, Holder: "a", Lasts: 15 * time.Second,
			Silent: time.Second, Watching: true,
		}, snapshot)
		assert.Equal(t, "a", b.Snapshot().Holder)
		assert.Equal(t, time.Second, b.Snapshot().Silent)
		assert.NoError(t, a.Check(0))
		assert.NoError(t, b.Check(0))
		p.play("cut a; 8s leads a")
		assert.NotEmpty(t, a.Snapshot().LastError)
	})
}

func TestTheWorkMayEndByItself(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		elector, err := leaderelection.New(leaderelection.Config{Leases: p.leases, Namespace: "kube-system",
			Name: "orrery", Identity: "a"})
		require.NoError(t, err)
		worked := false
		require.NoError(t, elector.Run(t.Context(), func(context.Context, leaderelection.Term) { worked = true }))
		assert.True(t, worked)
		lease := p.lease()
		assert.Empty(t, lease.Spec.HolderIdentity)
		assert.Equal(t, int32(1), *lease.Spec.LeaseDurationSeconds)
		assert.False(t, errors.Is(elector.Check(0), context.Canceled))
	})
}

// A slow server is no reason to stop as long as each answer arrives within the timeout of its
// attempt. The next attempt begins a retry period after the beginning of the last one, or at its
// end if that is later.
func TestASlowServerIsSurvived(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; join b; 1s leads a")
		p.forbid(func(r *http.Request) bool {
			if r.Method == http.MethodPut {
				time.Sleep(4900 * time.Millisecond)
			}
			return false
		})
		p.play("61s leads a; follows b")
	})
}

// After an attempt without an answer, another follows at once, in the time left until the
// deadline.
func TestAnAttemptWithoutAnAnswerIsRepeatedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; 1s leads a")
		var attempts atomic.Int32
		p.forbid(func(r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			if attempts.Add(1) == 1 { // it begins 2 s after the last renewal and has 5 s
				time.Sleep(6 * time.Second)
				return true
			}
			time.Sleep(2900 * time.Millisecond)
			return false
		})
		p.play("13s leads a")
		assert.GreaterOrEqual(t, attempts.Load(), int32(2))
	})
}

// An attempt that is refused at once is retried after the retry period, not in a loop.
func TestRenewalsKeepTheirPeriod(t *testing.T) {
	inBubble(t, func(t *testing.T, p *place) {
		p.play("join a; 1s leads a")
		var began []time.Duration
		p.forbid(func(r *http.Request) bool {
			if r.Method == http.MethodPut {
				began = append(began, time.Since(p.began))
				return true
			}
			return false
		})
		lost := failure[*leaderelection.LostError](t, p.of["a"])
		assert.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second, 8 * time.Second}, began)
		assert.True(t, api.IsForbidden(lost), "%v", lost)
	})
}

// A candidate that joins after the leader's death waits for the whole lease, since it saw it first.
// For people, it says how long the leader has been silent.
func TestADeadLeaderIsWaitedForAndItsSilenceIsShown(t *testing.T) {
	for _, dead := range []time.Duration{0, 30 * time.Second, 15 * time.Minute} {
		inBubble(t, func(t *testing.T, p *place) {
			p.play("join a; 5s leads a; die a")
			time.Sleep(dead)
			b := p.join("b")
			waits := until(t, "b leads", b.leads)
			assert.Equal(t, 15*time.Second, waits)
			assert.Contains(t, b.reported(), `acquired after "a"`)
			assert.GreaterOrEqual(t, b.term.Silent, dead+waits, "the term has the predecessor's silence")
			assert.Less(t, b.term.Silent, dead+waits+5*time.Second)
			if dead > 15*time.Second {
				assert.GreaterOrEqual(t, b.leaderSilent(), dead, "it says how long the leader has been silent")
			}
		})
	}
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
		client, err := leaderelection.NewClient(pipes.Config(), leaderelection.DefaultRenewDeadline)
		require.NoError(t, err)
		defer client.Close()
		elector, err := leaderelection.New(leaderelection.Config{
			Leases: restclient.Typed[*api.Lease](client, api.LeasesResource, "kube-system"), Namespace: "kube-system",
			Name: "orrery", Identity: "a",
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- elector.Run(ctx, func(alive context.Context, _ leaderelection.Term) {
				select {
				case <-ctx.Done():
				case <-alive.Done():
				}
			})
		}()
		time.Sleep(5 * time.Second)
		require.True(t, elector.Snapshot().Leading)
		pipes.Silence()
		time.Sleep(time.Minute)
		assert.True(t, elector.Snapshot().Leading)
		stop()
		assert.NoError(t, <-ended)
	})
}

func TestIdentitiesAreUnique(t *testing.T) {
	pattern := regexp.MustCompile(`^.+_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	first, second := leaderelection.NewIdentity(), leaderelection.NewIdentity()
	assert.Regexp(t, pattern, first)
	assert.NotEqual(t, first, second)
}
