package nsctltest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

func (s suite) EventsAreNotDeletedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		requests := c.Log()
		assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/events")
		assert.NotContains(t, requests, "DELETE /apis/events.k8s.io/v1/namespaces/ns/events")
	})
}

func (s suite) ContentIsDeletedAndVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("full", true, "kubernetes")
		c.Put("configmaps.", "full", "a")
		c.Put("configmaps.", "full", "b")
		c.Put("deployments.apps", "full", "web")
		c.Put("configmaps.", "other", "a")
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "full"))

		assert.Nil(t, c.Namespace("full"))
		assert.Empty(t, c.Left("full"))
		assert.Equal(t, []string{"configmaps./a"}, c.Left("other"), "other namespaces are left alone")
		requests := c.Log()
		assert.Contains(t, requests, "GET /api/v1/namespaces/full/configmaps", "something was found: look again")
		assert.Contains(t, requests, "GET /apis/apps/v1/namespaces/full/deployments")
		if s.has(ReadsAnswers) {
			assert.NotContains(t, requests, "GET /api/v1/namespaces/full/secrets", "nothing was found: that is the proof")
		} else {
			assert.Contains(t, requests, "GET /api/v1/namespaces/full/secrets")
		}
	})
}

func (s suite) BareStatusAnswerGetsTheVerifyingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.BareStatus = []string{"leases.coordination.k8s.io"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("leases.coordination.k8s.io", "ns", "held", WithFinalizers("example.com/hold"))
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, err, &remaining)
		assert.Contains(t, c.Log(), "GET /apis/coordination.k8s.io/v1/namespaces/ns/leases")
		assert.NotNil(t, c.Namespace("ns"))
	})
}

// Whatever else a server answers proves nothing either. Upstream does not look at it at all.
func (s suite) AnswerThatIsNoListGetsTheVerifyingList(t *testing.T) {
	for name, body := range map[string]string{
		"nothing": "", "text": "deleted", "an object": "{}", "an object of the type": `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`,
		"a first page": `{"kind":"LeaseList","metadata":{"continue":"next"},"items":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.Answers = map[string]string{"leases.coordination.k8s.io": body}
				c.AddNamespace("ns", true, "kubernetes")
				c.Put("leases.coordination.k8s.io", "ns", "held", WithFinalizers("example.com/hold"))
				deleter := s.newDeleter(t, c)
				var remaining *nsctl.ResourcesRemainingError
				require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
				assert.NotNil(t, c.Namespace("ns"))
				c.Release("leases.coordination.k8s.io", "ns", "held")
				require.NoError(t, deleter.Delete(t.Context(), "ns"))
				assert.Nil(t, c.Namespace("ns"))
			})
		})
	}
}

// A kube-apiserver that has just been started lists its built-in types as if there were no others. A deleter that
// believes it finalizes the namespace, and custom objects stay behind.
func (s suite) ServerThatIsStartingIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["gadgets.example/v1"] = []string{"gadgets"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("gadgets.gadgets.example", "ns", "g")
		c.Put("configmaps.", "ns", "a")
		c.Starting = true
		deleter := s.newDeleter(t, c)
		var notReady *discovery.NotReadyError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &notReady)
		assert.Equal(t, []string{"configmaps./a", "gadgets.gadgets.example/g"}, c.Left("ns"))
		assert.Equal(t, "the API server is not ready: it is starting or stopping, and may not list all that it serves",
			ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure).Message)

		c.Starting = false
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Empty(t, c.Left("ns"))
		assert.Nil(t, c.Namespace("ns"))
	})
}

// A proxy that does not find one of the two documents of discovery must not make a whole half of the types disappear.
func (s suite) DiscoveryOfHalfTheServerIsNotBelieved(t *testing.T) {
	for _, path := range []string{"/api", "/apis"} {
		synctest.Test(t, func(t *testing.T) {
			c := NewCluster()
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("secrets.", "ns", "s")
			c.Put("deployments.apps", "ns", "web")
			c.Refuse(func(r *http.Request) *api.Status {
				if r.URL.Path == path {
					return Status(404, api.ReasonNotFound, "default backend")
				}
				return nil
			})
			require.Error(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
			assert.NotNil(t, c.Namespace("ns"))
			assert.Len(t, c.Left("ns"), 2, "nothing can be said of pods either")
		})
	}
}

// A server that has namespaces has types that live in them. One that lists none is broken, not empty.
func (s suite) DiscoveryThatFindsNothingIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types = nil
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		assert.ErrorIs(t, s.newDeleter(t, c).Delete(t.Context(), "ns"), nsctl.ErrNothingDiscovered)
		assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure).Status)
	})
}

func (s suite) NamespacesThatAreNotBeingDeletedAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("active", false, "kubernetes")
		c.Put("configmaps.", "active", "a")
		deleter := s.newDeleter(t, c)
		require.NoError(t, deleter.Delete(t.Context(), "active"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/active"}, c.Log())
		require.NoError(t, deleter.Delete(t.Context(), "missing"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/missing"}, c.Log())
		assert.Equal(t, []string{"configmaps./a"}, c.Left("active"))
	})
}

// The name is that of a namespace whose deletion was seen; what has it now is another one, whose grace period has not ended.
func (s suite) ANamespaceThatWasRecreatedIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		ns := c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		seen := nsctl.ObservedDeletion{UID: "uid of the one before", DeletedAt: ns.DeletionTimestamp.Time, Settled: time.Now()}
		require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
		assert.Equal(t, []string{"configmaps./a"}, c.Left("ns"), "content of a namespace that has not settled was deleted")
		assert.NotNil(t, c.Namespace("ns"))

		seen.UID = ns.UID
		require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
		assert.Nil(t, c.Namespace("ns"), "this is the one that was seen")
	})
}

func (s suite) PhaseIsSetForServersThatDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		c.Update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive })
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, api.NamespaceTerminating, c.Existing(t, "ns").Status.Phase)
	})
}

func (s suite) ForeignFinalizerTokensAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("development", true, "openshift.com/origin", "kubernetes", "a.example/first", "openshift.com/origin")
		deleter := s.newDeleter(t, c)
		require.NoError(t, deleter.Delete(t.Context(), "development"))
		require.NotNil(t, c.Namespace("development"), "the tokens of others were removed")
		assert.Equal(t, []string{"a.example/first", "openshift.com/origin"}, c.Existing(t, "development").Spec.Finalizers,
			"sorted, once each, and ours is gone")

		c.Log()
		require.NoError(t, deleter.Delete(t.Context(), "development"))
		assert.NotContains(t, c.Log(), "PUT /api/v1/namespaces/development/finalize", "our token is gone, there is nothing to take off")
	})
}

// The namespace design ends with a final DELETE by the controller. Servers of today remove the object themselves.
func (s suite) FinalDeleteForOlderServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true)
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		if !s.has(DeletesFinalized) {
			assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log())
			return
		}
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns", "DELETE /api/v1/namespaces/ns"}, c.Log())
		assert.Nil(t, c.Namespace("ns"))
	})
}

func (s suite) FinalDeleteSparesANamespaceThatWasRecreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true)
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete {
				c.AddNamespace("ns", false, "kubernetes") // between our GET and our DELETE
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.NotNil(t, c.Namespace("ns"))
	})
}

func (s suite) FinalDeleteWaitsForMetadataFinalizers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true)
		c.Update("ns", func(ns *api.Namespace) { ns.Finalizers = []string{"example.com/hold"} })
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log())
	})
}

func (s suite) PodsHoldEverythingElseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "slow", RunningPod(60))
		c.Put("pods.", "ns", "slower", RunningPod(300), WithFinalizers("example.com/hold"))
		c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
		deleter := s.newDeleter(t, c)

		err := deleter.Delete(t.Context(), "ns")
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, err, &remaining)
		assert.Equal(t, int64(300), remaining.Estimate)
		assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./slow", "pods./slower"}, c.Left("ns"))
		assert.LessOrEqual(t, len(c.Log()), 8, "an attempt with pods still there is cheap")

		// Unlike upstream, which reports that all content was removed (#138208).
		ns := c.Namespace("ns")
		assert.Equal(t, "Some resources are remaining: pods. has 2 resource instances", ConditionOf(ns, api.NamespaceContentRemaining).Message)
		assert.Equal(t, "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
			ConditionOf(ns, api.NamespaceFinalizersRemaining).Message)

		time.Sleep(5 * time.Minute) // in the bubble: the pods' time is over, the finalizer still holds one
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, int64(15), remaining.Estimate, "the grace period is over, it is the finalizer that is waited for")

		c.Release("pods.", "ns", "slower")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.Namespace("ns"))
		assert.Empty(t, c.Left("ns"))
	})
}

// Upstream goes on with the other types, NetworkPolicies included, while pods may run (fails open).
func (s suite) AnErrorInThePodsStepStopsThePass(t *testing.T) {
	for _, failing := range []string{http.MethodDelete, http.MethodGet} {
		t.Run(failing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.AddNamespace("ns", true, "kubernetes")
				c.Put("pods.", "ns", "busy", RunningPod(30))
				c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
				c.Refuse(func(r *http.Request) *api.Status {
					if r.Method == failing && strings.HasSuffix(r.URL.Path, "/pods") {
						return Status(500, api.ReasonInternalError, "etcd is on fire")
					}
					return nil
				})
				err := s.newDeleter(t, c).Delete(t.Context(), "ns")
				require.Error(t, err)
				assert.Contains(t, c.Left("ns"), "networkpolicies.networking.k8s.io/deny-all")
				failure := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure)
				assert.Equal(t, "Failed to delete all resource types, 1 remaining: etcd is on fire", failure.Message)
			})
		})
	}
}

func (s suite) OneTypesFailureDoesNotKeepTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		c.Put("secrets.", "ns", "a")
		c.Put("roles.rbac.authorization.k8s.io", "ns", "a")
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete && (strings.HasSuffix(r.URL.Path, "/secrets") || strings.HasSuffix(r.URL.Path, "/roles")) {
				return Status(403, api.ReasonForbidden, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]+" are forbidden")
			}
			return nil
		})
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		require.True(t, api.IsForbidden(err), "the cause is found through the aggregate: %v", err)
		var resource *nsctl.ResourceError
		require.ErrorAs(t, err, &resource)
		assert.Equal(t, []string{"roles.rbac.authorization.k8s.io/a", "secrets./a"}, c.Left("ns"))
		assert.Equal(t, "Failed to delete all resource types, 2 remaining: roles are forbidden, secrets are forbidden",
			ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Message)
		assert.NotNil(t, c.Namespace("ns"))
	})
}

func (s suite) AListThatFailsIsNotAnEmptyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("secrets.", "ns", "held", WithFinalizers("example.com/hold"))
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/secrets") {
				return Status(403, api.ReasonForbidden, "secrets may not be listed")
			}
			return nil
		})
		require.True(t, api.IsForbidden(s.newDeleter(t, c).Delete(t.Context(), "ns")))
		assert.NotNil(t, c.Namespace("ns"))
	})
}

func (s suite) IncompleteDiscoveryDeletesWhatItSeesAndDoesNotFinalize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["metrics.example/v1"] = []string{"gauges"}
		c.Stale = []string{"metrics.example/v1"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		c.Put("gauges.metrics.example", "ns", "hidden")
		deleter := s.newDeleter(t, c)

		err := deleter.Delete(t.Context(), "ns")
		var groups *discovery.ErrGroupDiscoveryFailed
		require.ErrorAs(t, err, &groups)
		assert.Equal(t, []string{"gauges.metrics.example/hidden"}, c.Left("ns"))
		failure := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure)
		assert.Equal(t, api.ConditionTrue, failure.Status)
		assert.True(t, strings.HasPrefix(failure.Message, "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.example/v1: "), failure.Message)

		// Repaired. A partial answer was not kept, so the next pass sees the group.
		c.Stale = nil
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.Namespace("ns"))
		assert.Empty(t, c.Left("ns"))
	})
}

// Where discovery fails for the group of the pods, nobody knows whether some run.
func (s suite) PodsThatCannotBeSeenHoldEverythingElseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Stale = []string{"v1"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "busy", RunningPod(30))
		c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		var groups *discovery.ErrGroupDiscoveryFailed
		require.ErrorAs(t, err, &groups)
		assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./busy"}, c.Left("ns"))
		assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure).Status)
	})
}

// A server without pods, such as one that serves nothing but custom resources, has none to wait for.
func (s suite) ServersWithoutPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["v1"] = []string{"configmaps"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Nil(t, c.Namespace("ns"))
	})
}

// Count returns how often a request was made.
func Count(requests []string, wanted string) int {
	n := 0
	for _, request := range requests {
		if request == wanted {
			n++
		}
	}
	return n
}

// A type whose definition was removed since discovery answers 404; there is nothing to delete then, and what is
// known of the server is outdated.
func (s suite) ATypeThatHasGoneRefreshesDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["gone.example/v1"] = []string{"ghosts"}
		c.AddNamespace("a", true, "kubernetes")
		c.AddNamespace("b", true, "kubernetes")
		time.Sleep(5 * time.Second)
		deleter := s.newDeleter(t, c)
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/ghosts") {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.Types, "gone.example/v1")
			}
			return nil
		})
		if !s.has(ForgivesVanishedTypes) {
			requireFailureOf(t, deleter.Delete(t.Context(), "a"), "ghosts")
			require.NoError(t, deleter.Delete(t.Context(), "a"))
			assert.Nil(t, c.Namespace("a"))
			return
		}
		require.NoError(t, deleter.Delete(t.Context(), "a"))
		assert.Nil(t, c.Namespace("a"), "the type and its objects have gone: the first pass knows")
		assert.Equal(t, 2, Count(c.Log(), "GET /apis"), "asked again")
		require.NoError(t, deleter.Delete(t.Context(), "b"))
		assert.Zero(t, Count(c.Log(), "GET /apis"), "the second pass uses that answer")
	})
}

// What was forgiven is told to nobody as an error: neither a log nor a metric may show a failure that the pass did not have.
func (s suite) ATypeThatHasGoneIsToldAsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["gone.example/v1"] = []string{"ghosts"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			switch {
			case strings.HasSuffix(r.URL.Path, "/secrets"):
				return Status(403, api.ReasonForbidden, "no")
			case strings.HasSuffix(r.URL.Path, "/ghosts"):
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.Types, "gone.example/v1")
			}
			return nil
		})
		var mu sync.Mutex
		told := map[string]error{}
		trace := &nsctl.Trace{TypeDeleted: func(_ string, resource api.GroupVersionResource, _ int, err error) {
			mu.Lock()
			defer mu.Unlock()
			assert.NotContains(t, told, resource.Resource, "each type is told of once")
			told[resource.Resource] = err
		}}
		require.Error(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(t.Context(), "ns"))
		assert.Len(t, told, 31)
		require.Contains(t, told, "ghosts")
		assert.Equal(t, s.has(ForgivesVanishedTypes), told["ghosts"] == nil, "what fails the pass is traced, and nothing else")
		assert.True(t, api.IsForbidden(told["secrets"]))
	})
}

// "Not found" from a server that lists the type, as one says that has not learnt of a type yet, does not prove that
// there is nothing. Upstream finalizes.
func (s suite) ATypeThatIsListedAndNotFoundIsNotEmpty(t *testing.T) {
	for name, refusal := range map[string]*api.Status{
		"not found":   Status(404, api.ReasonNotFound, "the server could not find the requested resource"),
		"not allowed": Status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource"),
	} {
		for _, verbs := range [][]string{nil, {"delete", "deletecollection"}, {"delete", "list"}} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := NewCluster()
					c.Types["late.example/v1"] = []string{"gadgets"}
					if verbs != nil {
						c.Verbs["gadgets.late.example"] = verbs
					}
					c.AddNamespace("ns", true, "kubernetes")
					c.Put("gadgets.late.example", "ns", "g")
					c.Refuse(func(r *http.Request) *api.Status {
						if strings.HasSuffix(r.URL.Path, "/gadgets") {
							return refusal
						}
						return nil
					})
					deleter := s.newDeleter(t, c)
					err := deleter.Delete(t.Context(), "ns")
					var resource *nsctl.ResourceError
					require.ErrorAs(t, err, &resource)
					assert.Equal(t, "gadgets", resource.Resource.Resource)
					require.NotNil(t, c.Namespace("ns"))
					assert.Equal(t, "ContentDeletionFailed", ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Reason)

					c.Refuse(nil)
					require.NoError(t, deleter.Delete(t.Context(), "ns"))
					assert.Nil(t, c.Namespace("ns"))
					assert.Empty(t, c.Left("ns"))
				})
			})
		}
	}
}

// A type that a newer server has in another version only, as after an upgrade in the middle of a pass, has not gone: its
// objects are the same ones.
func (s suite) ATypeThatHasMovedToAnotherVersionHasNotGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["moved.example/v1beta1"] = []string{"gadgets"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("gadgets.moved.example", "ns", "g")
		c.Refuse(func(r *http.Request) *api.Status {
			if !strings.HasPrefix(r.URL.Path, "/apis/moved.example/v1beta1/") {
				return nil
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.Types, "moved.example/v1beta1")
			c.Types["moved.example/v1"] = []string{"gadgets"}
			return Status(404, api.ReasonNotFound, "the server could not find the requested resource")
		})
		deleter := s.newDeleter(t, c)
		var resource *nsctl.ResourceError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource)
		require.NotNil(t, c.Namespace("ns"))
		assert.Equal(t, []string{"gadgets.moved.example/g"}, c.Left("ns"))

		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.Namespace("ns"))
		assert.Empty(t, c.Left("ns"))
	})
}

// A type that cannot be listed is asked once more by deleting it: its answer says what it still found.
func (s suite) ContentThatCannotBeListedIsSeenInTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Verbs["secrets."] = []string{"delete", "deletecollection"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("secrets.", "ns", "held", WithFinalizers("example.com/hold"))
		c.Put("secrets.", "ns", "free")
		deleter := s.newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		require.NotNil(t, c.Namespace("ns"))
		c.Release("secrets.", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.Namespace("ns"))
		assert.NotContains(t, c.Log(), "GET /api/v1/namespaces/ns/secrets")
	})
}

func (s suite) TypesWithoutDeleteCollectionAreDeletedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Verbs["services."] = []string{"delete", "list"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("services.", "ns", "a")
		c.Put("services.", "ns", "b")
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		requests := c.Log()
		assert.NotContains(t, requests, "DELETE /api/v1/namespaces/ns/services", "discovery says that it would be refused")
		assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/services/a")
		assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/services/b")
		assert.Nil(t, c.Namespace("ns"))
	})
}

func (s suite) CollectionDeleteThatIsRefusedFallsBackToOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("services.", "ns", "a")
		c.Put("services.", "ns", "vanishing")
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/services") {
				return Status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
			}
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/vanishing") {
				c.mu.Lock()
				delete(c.content["services."]["ns"], "vanishing") // another client was faster
				c.mu.Unlock()
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Empty(t, c.Left("ns"))
		assert.Nil(t, c.Namespace("ns"))
	})
}

func (s suite) OneByOneStopsAtAnError(t *testing.T) {
	for name, refusal := range map[string]*api.Status{
		"forbidden": Status(403, api.ReasonForbidden, "denied by policy"),
		"conflict":  Status(409, api.ReasonConflict, "the object has been modified"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.Verbs["services."] = []string{"delete", "list"}
				c.AddNamespace("ns", true, "kubernetes")
				c.Put("services.", "ns", "a")
				c.Put("services.", "ns", "b")
				c.Refuse(func(r *http.Request) *api.Status {
					if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/services/a") {
						return refusal
					}
					return nil
				})
				err := s.newDeleter(t, c).Delete(t.Context(), "ns")
				var resource *nsctl.ResourceError
				require.ErrorAs(t, err, &resource)
				assert.Equal(t, "deleting a", resource.Doing)
				assert.Equal(t, []string{"services./a", "services./b"}, c.Left("ns"))
				assert.Contains(t, ConditionOf(c.Namespace("ns"), api.NamespaceDeletionContentFailure).Message, refusal.Message)
			})
		})
	}
}

func (s suite) TypesThatCannotBeListedCountAsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Verbs["leases.coordination.k8s.io"] = []string{"delete"}
		c.AddNamespace("ns", true, "kubernetes")
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Nil(t, c.Namespace("ns"))
		for _, request := range c.Log() {
			assert.NotContains(t, request, "/leases")
		}
	})
}

func (s suite) FinalizersOnContentAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("deployments.apps", "ns", "held", WithFinalizers("example.com/hold"))
		deleter := s.newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, int64(15), remaining.Estimate)
		ns := c.Namespace("ns")
		assert.Equal(t, "Some resources are remaining: deployments.apps has 1 resource instances", ConditionOf(ns, api.NamespaceContentRemaining).Message)
		assert.Equal(t, api.ConditionFalse, ConditionOf(ns, api.NamespaceDeletionContentFailure).Status)

		c.Release("deployments.apps", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.Namespace("ns"))
	})
}

func (s suite) ConflictsAreRetriedOnTheNewState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		conflicts := 0
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") && conflicts < 3 {
				conflicts++
				c.Update("ns", func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"kubernetes", "example.com/new"} })
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, 3, conflicts)
		assert.Equal(t, []string{"example.com/new"}, c.Existing(t, "ns").Spec.Finalizers, "what was added in the meantime is kept")
	})
}

// Upstream repeats for ever, without a pause (UPSTREAM: retryOnConflict loops without limit or delay).
func (s suite) ConflictRetriesAreBoundedAndBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				return Status(409, api.ReasonConflict, "the object has been modified")
			}
			return nil
		})
		started := time.Now()
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		require.True(t, api.IsConflict(err), "%v", err)
		tries := Count(c.Log(), "PUT /api/v1/namespaces/ns/finalize")
		assert.Greater(t, tries, 2)
		assert.Less(t, tries, 12)
		assert.Greater(t, time.Since(started), 300*time.Millisecond, "there are pauses (virtual time)")
	})
}

func (s suite) ConflictWithARecreatedNamespaceStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				c.AddNamespace("ns", true, "kubernetes") // the same name, another UID
			}
			return nil
		})
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		var changed *nsctl.UIDChangedError
		require.ErrorAs(t, err, &changed)
		assert.Equal(t, []string{"kubernetes"}, c.Existing(t, "ns").Spec.Finalizers)
	})
}

func (s suite) StatusThatCannotBeWrittenDoesNotStopTheDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") {
				return Status(403, api.ReasonForbidden, "no status for you")
			}
			return nil
		})
		var failed atomic.Int32
		trace := &nsctl.Trace{ConditionsFailed: func(string, error) { failed.Add(1) }}
		require.NoError(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"example.com/other"}, c.Existing(t, "ns").Spec.Finalizers)
		assert.Equal(t, int32(1), failed.Load(), "but it is told")
	})
}

func (s suite) NamespaceThatVanishesMeanwhileIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodPut {
				return Status(404, api.ReasonNotFound, "not found")
			}
			return nil
		})
		assert.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	})
}

func (s suite) ErrorsOfTheGetAreReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Refuse(func(*http.Request) *api.Status { return Status(403, api.ReasonForbidden, "no") })
		assert.True(t, api.IsForbidden(s.newDeleter(t, c).Delete(t.Context(), "ns")))
	})
}

func (s suite) CancelledPassReportsTheCauseAndWritesNoConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		ctx, cancel := context.WithCancel(t.Context())
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete {
				cancel()
			}
			return nil
		})
		trace := &nsctl.Trace{ConditionsFailed: func(string, error) { t.Error("a pass that was cut short tried to write its findings") }}
		err := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(ctx, "ns")
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
	})
}

func (s suite) DryRunLooksAndWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "a", RunningPod(30))
		c.Put("configmaps.", "ns", "a")
		c.Put("configmaps.", "ns", "b")
		would := map[string]int{}
		trace := &nsctl.Trace{WouldDelete: func(_ string, resource api.GroupVersionResource, items int, err error) {
			require.NoError(t, err)
			if items > 0 {
				would[resource.GroupResource()] = items
			}
		}}
		deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.DryRun, config.Trace = true, trace })
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, map[string]int{"pods.": 1, "configmaps.": 2}, would)
		assert.False(t, slices.ContainsFunc(c.Log(), func(request string) bool { return !strings.HasPrefix(request, "GET ") }))
		assert.Len(t, c.Left("ns"), 3)
		assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
	})
}

// What has gone with its definition would not be deleted, and is no error.
func (s suite) DryRunForgivesATypeThatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["gone.example/v1"] = []string{"ghosts"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/ghosts") {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.Types, "gone.example/v1")
			}
			return nil
		})
		deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.DryRun = true })
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.NotNil(t, c.Namespace("ns"))
	})
}

func (s suite) ContentErrorReadsWellAloneAndInCompany(t *testing.T) {
	one := &nsctl.ContentError{Errors: []error{context.Canceled}}
	assert.EqualError(t, one, "context canceled")
	two := &nsctl.ContentError{Errors: []error{context.Canceled, context.DeadlineExceeded}}
	assert.EqualError(t, two, "2 errors: [context canceled, context deadline exceeded]")
	assert.ErrorIs(t, two, context.DeadlineExceeded)
}

// The estimate is the longest grace period of the pods that run, until that much time has passed since the deletion. It
// decides when the next pass is made; pods that outlive it without a finalizer are an error.
func (s suite) TheEstimateIsTheLongestGracePeriod(t *testing.T) {
	pod := func(phase string, grace ...int64) func(*item) {
		return func(i *item) {
			i.Status.Phase = phase
			i.Metadata.Finalizers = []string{"example.com/hold"} // it stays, however long it takes
			if len(grace) > 0 {
				i.Spec.Grace = &grace[0]
			}
		}
	}
	type pods []func(*item)
	tests := []struct {
		name  string
		pods  pods
		after time.Duration
		want  int64
	}{
		{"the longest counts", pods{pod("Running", 30), pod("Pending", 60), pod("Running", 10)}, time.Second, 60},
		{"pods that have ended do not count", pods{pod("Succeeded", 60), pod("Failed", 90), pod("Running", 5)}, time.Second, 5},
		{"a pod without a period", pods{pod("Running")}, time.Second, 15},
		{"the period is nearly over", pods{pod("Running", 30)}, 29 * time.Second, 30},
		{"the period is over", pods{pod("Running", 30)}, 30 * time.Second, 15},
		{"a period shorter than what a finalizer gets", pods{pod("Running", 3)}, time.Second, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.AddNamespace("ns", true, "kubernetes")
				for i, adjust := range test.pods {
					c.Put("pods.", "ns", fmt.Sprint("p", i), adjust)
				}
				time.Sleep(test.after)
				err := s.newDeleter(t, c).Delete(t.Context(), "ns")
				var remaining *nsctl.ResourcesRemainingError
				require.ErrorAs(t, err, &remaining)
				assert.Equal(t, test.want, remaining.Estimate)
			})
		})
	}
}
