package garbagecollector_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func TestBackground(t *testing.T) {
	inWorld(t, func(w *world) {
		owner := w.create("owner")
		child := w.create("child", owned("owner", owner))
		w.create("grandchild", owned("child", child))
		w.create("stranger")
		assert.Len(t, w.names(), 4)
		w.delete("owner", api.DeletePropagationBackground)
		assert.Equal(t, []string{"stranger"}, w.names())
		assert.ElementsMatch(t, []string{"child deleted (Background)", "grandchild deleted (Background)"}, w.hear())
	})
}

func TestForegroundWaitsForThoseThatBlock(t *testing.T) {
	inWorld(t, func(w *world) {
		owner := w.create("owner")
		child := w.create("child", owned("owner", owner))
		w.create("last", owned("grandchild", w.create("grandchild", owned("child", child))))
		w.create("loose", owned("-owner", owner))
		w.merge("last", `{"finalizers":["example.com/hold"]}`)
		w.merge("loose", `{"finalizers":["example.com/hold"]}`)
		w.rest() // a child whose dependents the collector does not know yet is deleted at once, as upstream
		w.delete("owner", api.DeletePropagationForeground)
		assert.Equal(t, []string{"child", "grandchild", "last", "loose", "owner"}, w.names())
		assert.Equal(t, []string{"foregroundDeletion"}, w.get("child").GetFinalizers())
		for _, name := range w.namesNow() {
			assert.NotNil(t, w.get(name).GetDeletionTimestamp(), name)
		}
		w.merge("last", `{"finalizers":null}`)
		assert.Equal(t, []string{"loose"}, w.names(), "the owner does not wait for a dependent that does not block")
		w.merge("loose", `{"finalizers":null}`)
		assert.Empty(t, w.names())
	})
}

func TestOrphan(t *testing.T) {
	inWorld(t, func(w *world) {
		owner, other := w.create("owner"), w.create("other")
		w.create("child", owned("owner", owner), owned("other", other))
		w.create("only-child", owned("owner", owner))
		w.delete("owner", api.DeletePropagationOrphan)
		assert.Equal(t, []string{"child", "only-child", "other"}, w.names())
		assert.Len(t, w.get("child").Nested("metadata", "ownerReferences"), 1)
		assert.Nil(t, w.get("only-child").Nested("metadata", "ownerReferences"))
	})
}

func TestAnObjectStaysAsLongAsOneOwnerExists(t *testing.T) {
	inWorld(t, func(w *world) {
		a, b := w.create("a"), w.create("b")
		w.create("child", owned("a", a), owned("b", b))
		w.delete("a", api.DeletePropagationBackground)
		assert.Equal(t, []string{"b", "child"}, w.names())
		assert.Equal(t, []string{"child released from owners"}, w.hear())
		references := fmt.Sprint(w.get("child").Nested("metadata", "ownerReferences"))
		assert.Contains(t, references, b)
		assert.NotContains(t, references, a)
		w.delete("b", api.DeletePropagationForeground)
		assert.Empty(t, w.names())
	})
}

func TestACircleDoesNotWaitForItself(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		for _, deleted := range []int{1, size} {
			t.Run(fmt.Sprintf("%d of %d deleted", deleted, size), func(t *testing.T) {
				inWorld(t, func(w *world) {
					uids := make([]string, size)
					for i := range size {
						uids[i] = w.create(fmt.Sprint("o", i))
					}
					for i := range size {
						next := (i + 1) % size
						w.merge(fmt.Sprint("o", i), ownedBy(fmt.Sprint("o", next), uids[next]))
					}
					assert.Len(t, w.names(), size)
					for i := range deleted {
						w.delete(fmt.Sprint("o", i), api.DeletePropagationForeground)
					}
					assert.Empty(t, w.names())
				})
			})
		}
	}
}

func TestACircleStaysOneOfOwners(t *testing.T) {
	inWorld(t, func(w *world) {
		a := w.create("a")
		b := w.create("b", owned("a", a))
		w.merge("a", ownedBy("b", b))
		w.merge("a", `{"finalizers":["x.y/z"]}`)
		w.merge("b", `{"finalizers":["x.y/z"]}`)
		w.delete("a", api.DeletePropagationForeground)
		assert.Equal(t, []string{"a", "b"}, w.names())
		assert.Contains(t, strings.Join(w.hear(), "; "), "blocks its owners no more")
		for _, name := range w.namesNow() {
			assert.Len(t, w.get(name).Nested("metadata", "ownerReferences"), 1, "%s still has its owner", name)
		}
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
		elsewhere := w.resource("configmaps").InNamespace("kube-system")
		owner := w.in(elsewhere, "owner")
		w.create("child", owned("owner", owner))
		assert.Empty(t, w.names(), "an owner is looked up in the namespace of its dependent")
		assert.Equal(t, []string{"invalid namespace child owner", "child deleted (Background)"}, w.hear())
		_, err := elsewhere.Get(context.Background(), "owner", api.GetOptions{})
		assert.NoError(t, err)
	})
}

func TestADependentThatWasThereBeforeItsOwnerOfAnotherNamespace(t *testing.T) {
	inWorld(t, func(w *world) {
		node := w.in(w.resource("nodes"), "n", owned("owner", "u"))
		assert.Equal(t, []string{"invalid namespace n owner"}, w.hear(),
			"a cluster-scoped object has no namespace for the lookup")
		assert.Equal(t, node, w.find("nodes", "n").GetUID(), "it is not deleted")
	})
}

func TestOwnersOfTheWholeCluster(t *testing.T) {
	inWorld(t, func(w *world) {
		node := w.in(w.resource("nodes"), "n")
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
				gizmo := w.in(w.resource("gizmos"), "g", owned("owner", owner))
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
			w.in(w.resource("gizmos"), "g", owned("owner", owner))
			w.rest()
			w.deleteIn("customresourcedefinitions", "gizmos.example.com", "")
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
		assert.Equal(t, []string{"x.y/z"}, w.get("a").GetFinalizers(), "writes to the owner put its end off")
		assert.Equal(t, []string{"a", "b"}, w.names())
		assert.Equal(t, []string{"x.y/z"}, w.get("a").GetFinalizers())
		assert.Nil(t, w.get("b").Nested("metadata", "ownerReferences"))
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
			w.in(w.resource("secrets"), "child", owned("owner", owner))
			w.delete("owner", api.DeletePropagationOrphan)
			assert.Empty(t, w.names())
			child := w.find("secrets", "child")
			require.NotNil(t, child, "the dependent was deleted instead of orphaned; deletionTimestamp is %v old", age)
			assert.Nil(t, child.Nested("metadata", "ownerReferences"))
		})
	}
}

func TestTheFinalizersOfADependentSayHowItGoes(t *testing.T) {
	for finalizer, left := range map[string][]string{"orphan": {"grandchild"}, "foregroundDeletion": {}} {
		t.Run(finalizer, func(t *testing.T) {
			inWorld(t, func(w *world) {
				a := w.create("a")
				b := w.create("b", owned("a", a))
				w.create("grandchild", owned("b", b))
				w.merge("b", fmt.Sprintf(`{"finalizers":[%q]}`, finalizer))
				w.delete("a", api.DeletePropagationBackground)
				assert.Equal(t, left, w.names())
			})
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
				w.merge("b", ownedBy("other", w.create("other")))
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
		w.in(w.resource("secrets"), "child", owned("owner", "u"))
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
		w.create("child", owned("Gizmo/g", w.in(w.resource("gizmos"), "g")))
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
		w.in(w.resource("gizmos"), "g", owned("owner", owner))
		w.delete("owner", api.DeletePropagationBackground)
		time.Sleep(time.Minute)
		assert.Nil(t, w.find("gizmos", "g"), "the group does not answer, so its types stay as they were")
	})
}

// The types are those of the last discovery, and the API server has stopped serving one of them.
func TestAnAnswer404AboutAType(t *testing.T) {
	inWorld(t, func(w *world) {
		w.defineGizmos()
		gizmo := w.in(w.resource("gizmos"), "g")
		w.kill()
		defer w.Fault("unavailable:resource=gizmos,verb=list|watch")() // the owner must be requested
		w.unserved.Store("/apis/example.com/v1/namespaces/")
		w.start(nil)
		w.create("child", owned("Gizmo/g", gizmo))
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []string{"child"}, w.names(), "it is no proof that the owner is gone")
		w.unserved.Store("")
		w.deleteIn("gizmos", "g", "")
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
		w.in(w.resource("gizmos"), "g", owned("owner", owner))
		w.delete("owner", api.DeletePropagationOrphan)
		time.Sleep(time.Minute)
		assert.Empty(t, w.names())
		gizmo := w.find("gizmos", "g")
		require.NotNil(t, gizmo, "it is an orphan")
		assert.Nil(t, gizmo.Nested("metadata", "ownerReferences"))
	})
}
