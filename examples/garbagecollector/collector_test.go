package garbagecollector_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/garbagecollector"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

func TestBackground(t *testing.T) {
	inWorld(t, func(w *world) {
		w.objects("owner; child: owner; grandchild: child; stranger")
		assert.Equal(t, "child: owner; grandchild: child; owner; stranger", w.state())
		w.delete("owner", api.DeletePropagationBackground)
		assert.Equal(t, "stranger", w.state())
		assert.ElementsMatch(t, []string{"child deleted (Background)", "grandchild deleted (Background)"}, w.hear())
	})
}

// What exists, what is deleted, what is left, and what the collector tells about it.
func TestWhatIsLeft(t *testing.T) {
	const background, foreground = api.DeletePropagationBackground, api.DeletePropagationForeground
	for _, c := range []struct {
		name, objects, deleted string
		how                    api.DeletePropagation
		left, told             string
	}{
		{"orphans", "owner; other; child: owner other; only-child: owner", "owner", api.DeletePropagationOrphan,
			"child: other; only-child; other", "child released from owners"},
		{"an object stays as long as one owner exists", "a; b; child: a b", "a", foreground,
			"b; child: b", "child released from owners"},
		{"both owners", "a; b; child: a b", "a b", foreground, "", "child deleted"},
		{"a dependent that is to be orphaned", "a; b!orphan: a; grandchild: b", "a", background, "grandchild", ""},
		{"a dependent that waits", "a; b!foregroundDeletion: a; grandchild: b", "a", background, "", ""},
		{"a circle of one", "a: a", "a", foreground, "", ""},
		{"a circle of two", "a: b; b: a", "a", foreground, "", ""},
		{"a circle of two, both deleted", "a: b; b: a", "a b", foreground, "", ""},
		{"a circle of three", "a: b; b: c; c: a", "a", foreground, "", ""},
		{"a circle of five, all deleted", "a: b; b: c; c: d; d: e; e: a", "a b c d e", foreground, "", ""},
		{"a circle stays one of owners", "a!x.y/z: b; b!x.y/z: a", "a", foreground, "a: b; b: a",
			"blocks its owners no more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.objects(c.objects)
				w.rest()
				for name := range strings.FieldsSeq(c.deleted) {
					w.delete(name, c.how)
				}
				assert.Equal(t, c.left, w.state())
				assert.Contains(t, strings.Join(w.hear(), "; "), c.told)
			})
		})
	}
}

func TestForegroundWaitsForThoseThatBlock(t *testing.T) {
	inWorld(t, func(w *world) {
		w.objects("owner; child: owner; grandchild: child; last!x.y/z: grandchild; loose!x.y/z: -owner")
		w.rest() // a child whose dependents the collector does not know yet is deleted at once, as upstream
		w.delete("owner", api.DeletePropagationForeground)
		assert.Equal(t, []string{"child", "grandchild", "last", "loose", "owner"}, w.names())
		assert.Equal(t, []string{"foregroundDeletion"}, w.get("child").Finalizers)
		for _, name := range w.namesNow() {
			assert.NotNil(t, w.get(name).DeletionTimestamp, name)
		}
		w.merge("last", `{"finalizers":null}`)
		assert.Equal(t, []string{"loose"}, w.names(), "the owner does not wait for a dependent that does not block")
		w.merge("loose", `{"finalizers":null}`)
		assert.Empty(t, w.names())
	})
}

func TestOwnersAreKnownByUID(t *testing.T) {
	inWorld(t, func(w *world) {
		owner := w.create("owner")
		w.create("child", owned("owner", owner))
		w.create("impostor", owned("owner", "another-uid"))
		w.create("of-no-owner", owned("never-was", "u"))
		assert.Equal(t, []string{"child", "owner"}, w.names())
		w.kill() // the owner is created again while no collector runs
		w.delete("owner", api.DeletePropagationBackground)
		w.create("owner")
		w.start(nil)
		assert.Equal(t, []string{"owner"}, w.names())
	})
}

// In a gap of the watch an object can be deleted and created again: the informer reports an
// update.
func TestAnOwnerThatIsCreatedAnewInAGapOfTheWatch(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("child", owned("owner", w.create("owner")))
		assert.Len(t, w.names(), 2)
		heal := w.Fault("unavailable:resource=configmaps,verb=list|watch")
		w.Link.CloseConnections()
		w.delete("owner", api.DeletePropagationBackground)
		w.create("owner")
		w.Server.Store().Compact()
		heal()
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []string{"owner"}, w.names())
	})
}

func TestOwnersInOtherNamespaces(t *testing.T) {
	inWorld(t, func(w *world) {
		owner := w.in("elsewhere", "owner")
		w.create("child", owned("owner", owner))
		assert.Empty(t, w.names(), "an owner is looked up in the namespace of its dependent")
		assert.Equal(t, []string{"invalid namespace child owner", "child deleted (Background)"}, w.hear())
		assert.NotNil(t, w.find("elsewhere", "owner"))
	})
}

func TestOwnersOfTheWholeCluster(t *testing.T) {
	inWorld(t, func(w *world) {
		node := w.in("nodes", "n", owned("owner", "u"))
		assert.Equal(t, []string{"invalid namespace n owner"}, w.hear(),
			"a cluster-scoped object has no namespace for the lookup")
		w.create("child", owned("Node/n", node))
		assert.Equal(t, []string{"child"}, w.names())
		w.deleteIn("nodes", "n", api.DeletePropagationForeground)
		assert.Empty(t, w.names())
		assert.Nil(t, w.find("nodes", "n"))
	})
}

func TestCustomResourcesOwnAndAreOwned(t *testing.T) {
	for _, policy := range []api.DeletePropagation{api.DeletePropagationBackground, api.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.create("early", owned("Gizmo/g", "u"))
				assert.Equal(t, []string{"early"}, w.names(), "an owner of an unknown type may exist")
				w.defineGizmos()
				owner := w.create("owner")
				gizmo := w.in("gizmos", "g", owned("owner", owner))
				w.create("child", owned("Gizmo/g", gizmo))
				assert.Equal(t, []string{"child", "owner"}, w.names(), "the type has become known")
				w.delete("owner", policy)
				assert.Empty(t, w.names())
				assert.Nil(t, w.find("gizmos", "g"))
			})
		})
	}
}

func TestATypeThatVanishes(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 2 { // the second time with the name of an earlier type
			w.defineGizmos()
			owner := w.create("owner")
			w.in("gizmos", "g", owned("owner", owner))
			w.in("gizmos", "of-no-owner", owned("never-was", "u"))
			w.rest()
			assert.Nil(t, w.find("gizmos", "of-no-owner"), "the objects of a type are watched again when it comes back")
			w.deleteIn("definitions", "gizmos.example.com", api.DeletePropagationBackground)
			assert.Equal(t, []string{"owner"}, w.names())
			w.delete("owner", api.DeletePropagationForeground)
			assert.Empty(t, w.names())
		}
	})
}

func TestOrphansOfAnOwnerThatIsHeldByOthersToo(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		w.merge("a", `{"finalizers":["x.y/z"]}`)
		w.create("b", owned("a", a))
		w.delete("a", api.DeletePropagationOrphan)
		for i := range 20 {
			time.Sleep(200 * time.Millisecond)
			w.merge("a", fmt.Sprintf(`{"annotations":{"written":"%d"}}`, i))
		}
		assert.Equal(t, []string{"x.y/z"}, w.get("a").Finalizers, "writes to the owner put its end off")
		assert.Equal(t, []string{"a", "b"}, w.names())
		assert.Equal(t, []string{"x.y/z"}, w.get("a").Finalizers)
		assert.Empty(t, w.get("b").OwnerReferences)
		w.merge("a", `{"finalizers":null}`)
		assert.Equal(t, []string{"b"}, w.names())
	})
}

// The dependent is created, and its owner orphaned, before any informer has seen it. How old the
// owner's deletionTimestamp is does not matter: it has whole seconds, of another machine's clock.
func TestADependentThatWasCreatedAMomentBeforeIsOrphanedToo(t *testing.T) {
	for _, age := range []time.Duration{0, 900 * time.Millisecond} {
		inWorld(t, func(w *world) {
			time.Sleep(age) // a bubble begins at a whole second
			heal := w.Fault("delay:by=300ms,resource=secrets,verb=list|watch")
			defer heal()
			w.Link.CloseConnections()
			owner := w.create("owner")
			w.in("secrets", "child", owned("owner", owner))
			w.delete("owner", api.DeletePropagationOrphan)
			assert.Empty(t, w.names())
			child := w.find("secrets", "child")
			require.NotNil(t, child, "the dependent was deleted instead of orphaned; deletionTimestamp is %v old", age)
			assert.Empty(t, child.OwnerReferences)
		})
	}
}

// Between the decision about an object and its deletion, the object gets an owner that exists.
func TestADeletionHasPreconditions(t *testing.T) {
	inWorld(t, func(w *world) {
		w.kill()
		var armed atomic.Bool
		w.start(func(verb string) {
			if verb == "delete" && armed.CompareAndSwap(true, false) {
				w.create("other")
				w.own("b", "", "other")
			}
		})
		w.create("b", owned("a", w.create("a")))
		w.rest()
		armed.Store(true)
		w.delete("a", api.DeletePropagationBackground)
		assert.Equal(t, []string{"b", "other"}, w.names())
		assert.False(t, armed.Load())
	})
}

func TestRightsToOneTypeAreMissing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.kill()
		heal := w.Fault("forbid:resource=secrets,verb=list|watch")
		w.Fault("not-allowed:resource=services,verb=list|watch") // discovery has said otherwise
		w.start(nil)
		w.create("child", owned("owner", w.create("owner")))
		w.rest()
		w.delete("owner", api.DeletePropagationForeground)
		time.Sleep(5 * time.Second)
		assert.Empty(t, w.namesNow(), "the others are collected without waiting for the refused types")
		time.Sleep(10 * time.Minute)
		assert.ElementsMatch(t, []string{"refused secrets", "refused services"}, w.hear()[:2])
		assert.NotContains(t, w.hear(), "refused secrets", "reported once")
		heal()
		time.Sleep(10 * time.Minute)
		w.in("secrets", "child", owned("owner", "u"))
		w.rest()
		assert.Nil(t, w.find("secrets", "child"), "the right has been given")
	})
}

// A pass that lacks a right is repeated after a minute, and after each discovery.
func TestTheRightToDeleteIsMissing(t *testing.T) {
	for _, order := range []string{"forbid:resource=configmaps,verb=delete", "forbid:resource=configmaps,verb=get"} {
		t.Run(order, func(t *testing.T) {
			inWorld(t, func(w *world) {
				heal := w.Fault(order)
				w.create("child", owned("owner", "never-was"))
				time.Sleep(5*time.Minute - 20*time.Second)
				told := w.hear()
				assert.Equal(t, []string{"forbidden"}, slices.Compact(slices.Clone(told)))
				assert.LessOrEqual(t, len(told), 15)
				heal()
				time.Sleep(time.Minute)
				assert.Empty(t, w.names())
			})
		})
	}
}

// A 404 for a type is no proof that an object of it is gone.
func TestAnAPIThatIsNotRegisteredAtTheMoment(t *testing.T) {
	inWorld(t, func(w *world) {
		w.defineGizmos()
		w.create("child", owned("Gizmo/g", w.in("gizmos", "g")))
		w.rest()
		heal := w.Fault("broken-group:group=example.com,version=v1")
		time.Sleep(10 * time.Minute)
		w.kill()
		w.start(nil)
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"child"}, w.names())
		heal()
		w.deleteIn("gizmos", "g", api.DeletePropagationBackground)
		time.Sleep(10 * time.Minute)
		assert.Empty(t, w.names())
	})
}

// The types of a group that discovery lacks for a while are still watched.
func TestAGroupThatIsMissingFromDiscovery(t *testing.T) {
	inWorld(t, func(w *world) {
		w.defineGizmos()
		w.rest()
		defer w.Fault("stale-discovery:group=example.com,version=v1")()
		time.Sleep(time.Minute)
		owner := w.create("owner")
		w.in("gizmos", "g", owned("owner", owner))
		w.delete("owner", api.DeletePropagationBackground)
		time.Sleep(time.Minute)
		assert.Nil(t, w.find("gizmos", "g"), "the group does not answer, so its types stay as they were")
	})
}

// The types are those of the last discovery, and the API server has stopped serving one of them.
func TestAnAnswer404AboutAType(t *testing.T) {
	inWorld(t, func(w *world) {
		w.defineGizmos()
		gizmo := w.in("gizmos", "g")
		w.kill()
		defer w.Fault("unavailable:resource=gizmos,verb=list|watch")() // the owner must be requested
		w.unserved.Store("/apis/example.com/v1/namespaces/")
		w.start(nil)
		w.create("child", owned("Gizmo/g", gizmo))
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []string{"child"}, w.names(), "it is no proof that the owner is gone")
		w.unserved.Store("")
		w.deleteIn("gizmos", "g", api.DeletePropagationBackground)
		time.Sleep(5 * time.Minute)
		assert.Empty(t, w.names())
	})
}

// The first list of a new type takes long and contains a dependent of an owner that is to be
// orphaned.
func TestADependentOfATypeThatHasJustAppearedIsOrphanedToo(t *testing.T) {
	inWorld(t, func(w *world) {
		defer w.Fault("delay:by=15s,resource=gizmos,verb=list|watch")()
		w.defineGizmos()
		w.rest() // the type is known, its objects are not
		owner := w.create("owner")
		w.in("gizmos", "g", owned("owner", owner))
		w.delete("owner", api.DeletePropagationOrphan)
		time.Sleep(time.Minute)
		assert.Empty(t, w.names())
		gizmo := w.find("gizmos", "g")
		require.NotNil(t, gizmo, "it is an orphan")
		assert.Empty(t, gizmo.OwnerReferences)
	})
}

// counted counts the requests for types.
type counted struct {
	garbagecollector.Discovery
	asked *atomic.Int64
	down  *atomic.Bool
}

func (c counted) ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error) {
	c.asked.Add(1)
	if c.down.Load() {
		return nil, nil, errors.New("down")
	}
	return c.Discovery.ServerGroupsAndResources(ctx)
}

// Types that appear together are discovered together.
func TestDiscoveryIsNotAskedTooOften(t *testing.T) {
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		var asked atomic.Int64
		var down atomic.Bool
		w := newWorld(t, set)
		w.adjust = func(config *garbagecollector.Config) {
			config.DiscoveryPeriod = time.Hour
			config.Discovery = counted{config.Discovery, &asked, &down}
		}
		w.start(nil)
		before := asked.Load()
		assert.Positive(t, before)
		for i := range 20 {
			name := "t" + string(rune('a'+i))
			definition := strings.NewReplacer("gizmo", name, "Gizmo", "K"+name).Replace(clustertest.Gizmos)
			w.Must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
		}
		w.rest()
		after := asked.Load()
		assert.LessOrEqual(t, after-before, int64(5), "once a second")
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.EqualValues(t, 1, asked.Load()-after)
		down.Store(true)
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"refused "}, w.hear(), "a discovery that fails is reported")
		w.create("child", owned("owner", "never-was"))
		assert.Empty(t, w.names(), "the types of the last discovery stay")
	})
}

// A slow informer delays the passes, but not forever.
func TestATypeThatCannotBeListedIsWaitedFor(t *testing.T) {
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		w := newWorld(t, set)
		w.Fault("unavailable:resource=configmaps,verb=list|watch")
		w.in("secrets", "child", owned("owner", "never-was"))
		w.start(nil)
		w.rest()
		assert.NotNil(t, w.find("secrets", "child"))
		time.Sleep(20 * time.Second)
		assert.Nil(t, w.find("secrets", "child"))
	})
}

// The collector is killed before each of its requests in turn and restarted. Everything
// converges, and objects with an existing owner remain.
func TestKilledBeforeEveryRequest(t *testing.T) {
	for _, name := range []string{gears.Fast, gears.Textbook} {
		t.Run(name, func(t *testing.T) {
			set, err := gears.Parse(name)
			require.NoError(t, err)
			requests := 0
			for last := false; !last; requests += clustertest.KillStep() {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, set)
					var left atomic.Int64
					left.Store(1 << 30)
					w.start(func(string) {
						if left.Add(-1) == 0 {
							w.cancel()
						}
					})
					w.objects("a; b; child: a b; f; f-child: f; f-grandchild: f-child; f-loose: -f; o; o-child: o; " +
						"c1: c2; c2: c1; same; same-child: same")
					w.rest()
					left.Store(int64(requests + 1))
					w.deleteSome()
					w.rest()
					last = left.Load() > 0
					w.kill()
					w.start(nil)
					assert.Equal(t, "b; child: b; o-child; same", w.state(), "killed before request %d", requests)
				})
			}
			require.Greater(t, requests, 10)
		})
	}
}

func (w *world) deleteSome() {
	w.delete("a", api.DeletePropagationBackground)
	w.delete("f", api.DeletePropagationForeground)
	w.delete("o", api.DeletePropagationOrphan)
	w.delete("c1", api.DeletePropagationForeground)
	w.delete("same", api.DeletePropagationBackground)
	w.create("same")
}
