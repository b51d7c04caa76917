package nsctl_test

import (
	"context"
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
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/restclienttest"
)

// newDeleter returns a deleter that speaks to the cluster over an in-memory connection. Call it in a bubble.
func newDeleter(t *testing.T, c *cluster, adjust ...func(*nsctl.DeleterConfig)) *nsctl.Deleter {
	t.Helper()
	client := newClient(t, c)
	config := nsctl.DeleterConfig{
		Namespaces: restclient.Typed[*api.Namespace](client, api.NamespacesResource, ""),
		Content:    nsctl.NewContentClient(client),
		Discovery:  newDiscovery(client),
	}
	for _, f := range adjust {
		f(&config)
	}
	return nsctl.NewDeleter(config)
}

// newDiscovery is what cmd/orrery gives to its deleter.
func newDiscovery(client *restclient.Client) nsctl.Discovery {
	return discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true}))
}

func newClient(t *testing.T, c http.Handler) *restclient.Client {
	t.Helper()
	server := restclienttest.NewServer(t, c)
	config := server.Config()
	config.QPS = -1
	config.MaxRetries = -1
	client, err := restclient.New(config)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func conditionOf(ns *api.Namespace, wanted api.NamespaceConditionType) api.NamespaceCondition {
	for _, condition := range ns.Status.Conditions {
		if condition.Type == wanted {
			return condition
		}
	}
	return api.NamespaceCondition{}
}

func TestEmptyNamespaceCostsAtMost36Requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("empty", true, "kubernetes")
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "empty"))

		assert.Nil(t, c.namespace("empty"))
		requests := c.log()
		assert.LessOrEqual(t, len(requests), 36, "the original needs 68")
		assert.Equal(t, []string{"GET /api/v1/namespaces/empty", "GET /readyz"}, requests[:2])
		assert.ElementsMatch(t, []string{"GET /api", "GET /apis"}, requests[2:4])
		assert.Equal(t, "PUT /api/v1/namespaces/empty/finalize", requests[len(requests)-1])
		assert.Equal(t, "DELETE /api/v1/namespaces/empty/pods", requests[4], "pods go first, right after discovery")
		for _, request := range requests[4 : len(requests)-1] {
			assert.True(t, strings.HasPrefix(request, "DELETE "), "%s: an empty answer needs no LIST", request)
		}
	})
}

func TestEventsAreNotDeletedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		requests := c.log()
		assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/events")
		assert.NotContains(t, requests, "DELETE /apis/events.k8s.io/v1/namespaces/ns/events")
	})
}

func TestContentIsDeletedAndVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("full", true, "kubernetes")
		c.put("configmaps.", "full", "a")
		c.put("configmaps.", "full", "b")
		c.put("deployments.apps", "full", "web")
		c.put("configmaps.", "other", "a")
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "full"))

		assert.Nil(t, c.namespace("full"))
		assert.Empty(t, c.left("full"))
		assert.Equal(t, []string{"configmaps./a"}, c.left("other"), "other namespaces are left alone")
		requests := c.log()
		assert.Contains(t, requests, "GET /api/v1/namespaces/full/configmaps", "something was found: look again")
		assert.Contains(t, requests, "GET /apis/apps/v1/namespaces/full/deployments")
		assert.NotContains(t, requests, "GET /api/v1/namespaces/full/secrets", "nothing was found: that is the proof")
	})
}

func TestBareStatusAnswerGetsTheVerifyingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.bareStatus = []string{"leases.coordination.k8s.io"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("leases.coordination.k8s.io", "ns", "held", withFinalizers("example.com/hold"))
		err := newDeleter(t, c).Delete(t.Context(), "ns")
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, err, &remaining)
		assert.Contains(t, c.log(), "GET /apis/coordination.k8s.io/v1/namespaces/ns/leases")
		assert.NotNil(t, c.namespace("ns"))
	})
}

// Whatever else a server answers proves nothing either. The original does not look at it at all.
func TestAnswerThatIsNoListGetsTheVerifyingList(t *testing.T) {
	for name, body := range map[string]string{
		"nothing": "", "text": "deleted", "an object": "{}", "an object of the type": `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`,
		"a first page": `{"kind":"LeaseList","metadata":{"continue":"next"},"items":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.answers = map[string]string{"leases.coordination.k8s.io": body}
				c.addNamespace("ns", true, "kubernetes")
				c.put("leases.coordination.k8s.io", "ns", "held", withFinalizers("example.com/hold"))
				deleter := newDeleter(t, c)
				var remaining *nsctl.ResourcesRemainingError
				require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
				assert.NotNil(t, c.namespace("ns"))
				c.release("leases.coordination.k8s.io", "ns", "held")
				require.NoError(t, deleter.Delete(t.Context(), "ns"))
				assert.Nil(t, c.namespace("ns"))
			})
		})
	}
}

// A kube-apiserver that has just been started lists its built-in types as if there were no others. Whoever believes it
// finalizes the namespace, and its custom objects stay behind in a namespace that is gone.
func TestServerThatIsStartingIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types["gadgets.example/v1"] = []string{"gadgets"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("gadgets.gadgets.example", "ns", "g")
		c.put("configmaps.", "ns", "a")
		c.starting = true
		deleter := newDeleter(t, c)
		var notReady *discovery.NotReadyError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &notReady)
		assert.Equal(t, []string{"configmaps./a", "gadgets.gadgets.example/g"}, c.left("ns"))
		assert.Equal(t, "the API server is not ready: it is starting or stopping, and may not list all that it serves",
			conditionOf(c.namespace("ns"), api.NamespaceDeletionDiscoveryFailure).Message)

		c.starting = false
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Empty(t, c.left("ns"))
		assert.Nil(t, c.namespace("ns"))
	})
}

// A proxy that does not find one of the two documents of discovery must not make a whole half of the types disappear.
func TestDiscoveryOfHalfTheServerIsNotBelieved(t *testing.T) {
	for _, path := range []string{"/api", "/apis"} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster()
			c.addNamespace("ns", true, "kubernetes")
			c.put("secrets.", "ns", "s")
			c.put("deployments.apps", "ns", "web")
			c.refuse(func(r *http.Request) *api.Status {
				if r.URL.Path == path {
					return status(404, api.ReasonNotFound, "default backend")
				}
				return nil
			})
			require.Error(t, newDeleter(t, c).Delete(t.Context(), "ns"))
			assert.NotNil(t, c.namespace("ns"))
			assert.Len(t, c.left("ns"), 2, "nothing can be said of pods either")
		})
	}
}

// A server that has namespaces has types that live in them. One that lists none is broken, not empty.
func TestDiscoveryThatFindsNothingIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types = nil
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "a")
		assert.ErrorIs(t, newDeleter(t, c).Delete(t.Context(), "ns"), nsctl.ErrNothingDiscovered)
		assert.Equal(t, api.ConditionTrue, conditionOf(c.namespace("ns"), api.NamespaceDeletionDiscoveryFailure).Status)
	})
}

func TestNamespacesThatAreNotBeingDeletedAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("active", false, "kubernetes")
		c.put("configmaps.", "active", "a")
		deleter := newDeleter(t, c)
		require.NoError(t, deleter.Delete(t.Context(), "active"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/active"}, c.log())
		require.NoError(t, deleter.Delete(t.Context(), "missing"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/missing"}, c.log())
		assert.Equal(t, []string{"configmaps./a"}, c.left("active"))
	})
}

func TestPhaseIsSetForServersThatDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes", "example.com/other")
		c.update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive })
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, api.NamespaceTerminating, c.namespace("ns").Status.Phase)
	})
}

func TestForeignFinalizerTokensAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("development", true, "openshift.com/origin", "kubernetes", "a.example/first", "openshift.com/origin")
		deleter := newDeleter(t, c)
		require.NoError(t, deleter.Delete(t.Context(), "development"))
		assert.Equal(t, []string{"a.example/first", "openshift.com/origin"}, c.namespace("development").Spec.Finalizers,
			"sorted, once each, and ours is gone")

		c.log()
		require.NoError(t, deleter.Delete(t.Context(), "development"))
		assert.NotContains(t, c.log(), "PUT /api/v1/namespaces/development/finalize", "our token is gone, there is nothing to take off")
	})
}

// The namespace design ends with a final DELETE by the controller. Servers of today remove the object themselves.
func TestFinalDeleteForOlderServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true)
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns", "DELETE /api/v1/namespaces/ns"}, c.log())
		assert.Nil(t, c.namespace("ns"))
	})
}

func TestFinalDeleteSparesANamespaceThatWasRecreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true)
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete {
				c.addNamespace("ns", false, "kubernetes") // between our GET and our DELETE
			}
			return nil
		})
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.NotNil(t, c.namespace("ns"))
	})
}

func TestFinalDeleteWaitsForMetadataFinalizers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true)
		c.update("ns", func(ns *api.Namespace) { ns.Finalizers = []string{"example.com/hold"} })
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.log())
	})
}

func TestPodsHoldEverythingElseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("pods.", "ns", "slow", runningPod(60))
		c.put("pods.", "ns", "slower", runningPod(300), withFinalizers("example.com/hold"))
		c.put("networkpolicies.networking.k8s.io", "ns", "deny-all")
		deleter := newDeleter(t, c)

		err := deleter.Delete(t.Context(), "ns")
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, err, &remaining)
		assert.Equal(t, int64(300), remaining.Estimate)
		assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./slow", "pods./slower"}, c.left("ns"))
		assert.LessOrEqual(t, len(c.log()), 7, "an attempt with pods still there is cheap")

		// Unlike the original, which reports that all content was removed (#138208).
		ns := c.namespace("ns")
		assert.Equal(t, "Some resources are remaining: pods. has 2 resource instances", conditionOf(ns, api.NamespaceContentRemaining).Message)
		assert.Equal(t, "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
			conditionOf(ns, api.NamespaceFinalizersRemaining).Message)

		time.Sleep(5 * time.Minute) // in the bubble: the pods' time is over, the finalizer still holds one
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, int64(15), remaining.Estimate, "the grace period is over, it is the finalizer that is waited for")

		c.release("pods.", "ns", "slower")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.namespace("ns"))
		assert.Empty(t, c.left("ns"))
	})
}

// The original goes on with the other types, NetworkPolicies included, while pods may run (fails open).
func TestAnErrorInThePodsStepStopsThePass(t *testing.T) {
	for _, failing := range []string{http.MethodDelete, http.MethodGet} {
		t.Run(failing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.addNamespace("ns", true, "kubernetes")
				c.put("pods.", "ns", "busy", runningPod(30))
				c.put("networkpolicies.networking.k8s.io", "ns", "deny-all")
				c.refuse(func(r *http.Request) *api.Status {
					if r.Method == failing && strings.HasSuffix(r.URL.Path, "/pods") {
						return status(500, api.ReasonInternalError, "etcd is on fire")
					}
					return nil
				})
				err := newDeleter(t, c).Delete(t.Context(), "ns")
				require.Error(t, err)
				assert.Contains(t, c.left("ns"), "networkpolicies.networking.k8s.io/deny-all")
				failure := conditionOf(c.namespace("ns"), api.NamespaceDeletionContentFailure)
				assert.Equal(t, "Failed to delete all resource types, 1 remaining: etcd is on fire", failure.Message)
			})
		})
	}
}

func TestOneTypesFailureDoesNotKeepTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "a")
		c.put("secrets.", "ns", "a")
		c.put("roles.rbac.authorization.k8s.io", "ns", "a")
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete && (strings.HasSuffix(r.URL.Path, "/secrets") || strings.HasSuffix(r.URL.Path, "/roles")) {
				return status(403, api.ReasonForbidden, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]+" are forbidden")
			}
			return nil
		})
		err := newDeleter(t, c).Delete(t.Context(), "ns")
		require.True(t, api.IsForbidden(err), "the cause is found through the aggregate: %v", err)
		var resource *nsctl.ResourceError
		require.ErrorAs(t, err, &resource)
		assert.Equal(t, []string{"roles.rbac.authorization.k8s.io/a", "secrets./a"}, c.left("ns"))
		assert.Equal(t, "Failed to delete all resource types, 2 remaining: roles are forbidden, secrets are forbidden",
			conditionOf(c.namespace("ns"), api.NamespaceDeletionContentFailure).Message)
		assert.NotNil(t, c.namespace("ns"))
	})
}

func TestAListThatFailsIsNotAnEmptyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("secrets.", "ns", "held", withFinalizers("example.com/hold"))
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/secrets") {
				return status(403, api.ReasonForbidden, "secrets may not be listed")
			}
			return nil
		})
		require.True(t, api.IsForbidden(newDeleter(t, c).Delete(t.Context(), "ns")))
		assert.NotNil(t, c.namespace("ns"))
	})
}

func TestIncompleteDiscoveryDeletesWhatItSeesAndDoesNotFinalize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types["metrics.example/v1"] = []string{"gauges"}
		c.stale = []string{"metrics.example/v1"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "a")
		c.put("gauges.metrics.example", "ns", "hidden")
		deleter := newDeleter(t, c)

		err := deleter.Delete(t.Context(), "ns")
		var groups *discovery.ErrGroupDiscoveryFailed
		require.ErrorAs(t, err, &groups)
		assert.Equal(t, []string{"gauges.metrics.example/hidden"}, c.left("ns"))
		failure := conditionOf(c.namespace("ns"), api.NamespaceDeletionDiscoveryFailure)
		assert.Equal(t, api.ConditionTrue, failure.Status)
		assert.True(t, strings.HasPrefix(failure.Message, "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.example/v1: "), failure.Message)

		// Repaired. A partial answer was not kept, so the next pass sees the group.
		c.stale = nil
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.namespace("ns"))
		assert.Empty(t, c.left("ns"))
	})
}

// Where discovery fails for the group of the pods, nobody knows whether some run.
func TestPodsThatCannotBeSeenHoldEverythingElseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.stale = []string{"v1"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("pods.", "ns", "busy", runningPod(30))
		c.put("networkpolicies.networking.k8s.io", "ns", "deny-all")
		err := newDeleter(t, c).Delete(t.Context(), "ns")
		var groups *discovery.ErrGroupDiscoveryFailed
		require.ErrorAs(t, err, &groups)
		assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./busy"}, c.left("ns"))
		assert.Equal(t, api.ConditionTrue, conditionOf(c.namespace("ns"), api.NamespaceDeletionDiscoveryFailure).Status)
	})
}

// A server without pods, such as one that serves nothing but custom resources, has none to wait for.
func TestServersWithoutPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types["v1"] = []string{"configmaps"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "a")
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Nil(t, c.namespace("ns"))
	})
}

func TestDiscoveryIsAskedOnceForManyDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		for _, name := range []string{"a", "b", "c"} {
			c.addNamespace(name, true, "kubernetes")
		}
		time.Sleep(5 * time.Second) // the grace period
		deleter := newDeleter(t, c)
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, deleter.Delete(t.Context(), name))
		}
		assert.Equal(t, 1, count(c.log(), "GET /apis"))

		c.addNamespace("later", true, "kubernetes")
		c.types["new.example/v1"] = []string{"gadgets"}
		c.put("gadgets.new.example", "later", "g")
		time.Sleep(5 * time.Second)
		require.NoError(t, deleter.Delete(t.Context(), "later"))
		assert.Equal(t, 1, count(c.log(), "GET /apis"), "the answer is older than this deletion")
		assert.Empty(t, c.left("later"))
	})
}

func count(requests []string, wanted string) int {
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
func TestATypeThatHasGoneRefreshesDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types["gone.example/v1"] = []string{"ghosts"}
		c.addNamespace("a", true, "kubernetes")
		c.addNamespace("b", true, "kubernetes")
		time.Sleep(5 * time.Second)
		deleter := newDeleter(t, c)
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/ghosts") {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.types, "gone.example/v1")
			}
			return nil
		})
		require.NoError(t, deleter.Delete(t.Context(), "a"))
		assert.Nil(t, c.namespace("a"), "the type and its objects have gone: the first pass knows")
		assert.Equal(t, 2, count(c.log(), "GET /apis"), "asked again")
		require.NoError(t, deleter.Delete(t.Context(), "b"))
		assert.Zero(t, count(c.log(), "GET /apis"), "that answer is good for everybody")
	})
}

// What was forgiven is told to nobody as an error: neither a log nor a metric may show a failure that the pass did not have.
func TestATypeThatHasGoneIsToldAsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types["gone.example/v1"] = []string{"ghosts"}
		c.addNamespace("ns", true, "kubernetes")
		c.refuse(func(r *http.Request) *api.Status {
			switch {
			case strings.HasSuffix(r.URL.Path, "/secrets"):
				return status(403, api.ReasonForbidden, "no")
			case strings.HasSuffix(r.URL.Path, "/ghosts"):
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.types, "gone.example/v1")
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
		require.Error(t, newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(t.Context(), "ns"))
		assert.Len(t, told, 31)
		require.Contains(t, told, "ghosts")
		assert.NoError(t, told["ghosts"])
		assert.True(t, api.IsForbidden(told["secrets"]))
	})
}

// "Not found" from a server that lists the type, as one says that has not learnt of a type yet, does not prove that
// there is nothing. The original finalizes.
func TestATypeThatIsListedAndNotFoundIsNotEmpty(t *testing.T) {
	for name, refusal := range map[string]*api.Status{
		"not found":   status(404, api.ReasonNotFound, "the server could not find the requested resource"),
		"not allowed": status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource"),
	} {
		for _, verbs := range [][]string{nil, {"delete", "deletecollection"}, {"delete", "list"}} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCluster()
					c.types["late.example/v1"] = []string{"gadgets"}
					if verbs != nil {
						c.verbs["gadgets.late.example"] = verbs
					}
					c.addNamespace("ns", true, "kubernetes")
					c.put("gadgets.late.example", "ns", "g")
					c.refuse(func(r *http.Request) *api.Status {
						if strings.HasSuffix(r.URL.Path, "/gadgets") {
							return refusal
						}
						return nil
					})
					deleter := newDeleter(t, c)
					err := deleter.Delete(t.Context(), "ns")
					var resource *nsctl.ResourceError
					require.ErrorAs(t, err, &resource)
					assert.Equal(t, "gadgets", resource.Resource.Resource)
					require.NotNil(t, c.namespace("ns"))
					assert.Equal(t, "ContentDeletionFailed", conditionOf(c.namespace("ns"), api.NamespaceDeletionContentFailure).Reason)

					c.refuse(nil)
					require.NoError(t, deleter.Delete(t.Context(), "ns"))
					assert.Nil(t, c.namespace("ns"))
					assert.Empty(t, c.left("ns"))
				})
			})
		}
	}
}

// A type that a newer server has in another version only, as after an upgrade in the middle of a pass, has not gone: its
// objects are the same ones.
func TestATypeThatHasMovedToAnotherVersionHasNotGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types["moved.example/v1beta1"] = []string{"gadgets"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("gadgets.moved.example", "ns", "g")
		c.refuse(func(r *http.Request) *api.Status {
			if !strings.HasPrefix(r.URL.Path, "/apis/moved.example/v1beta1/") {
				return nil
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.types, "moved.example/v1beta1")
			c.types["moved.example/v1"] = []string{"gadgets"}
			return status(404, api.ReasonNotFound, "the server could not find the requested resource")
		})
		deleter := newDeleter(t, c)
		var resource *nsctl.ResourceError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource)
		require.NotNil(t, c.namespace("ns"))
		assert.Equal(t, []string{"gadgets.moved.example/g"}, c.left("ns"))

		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.namespace("ns"))
		assert.Empty(t, c.left("ns"))
	})
}

// A type that cannot be listed is asked once more by deleting it: its answer says what it still found.
func TestContentThatCannotBeListedIsSeenInTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.verbs["secrets."] = []string{"delete", "deletecollection"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("secrets.", "ns", "held", withFinalizers("example.com/hold"))
		c.put("secrets.", "ns", "free")
		deleter := newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		require.NotNil(t, c.namespace("ns"))
		c.release("secrets.", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.namespace("ns"))
		assert.NotContains(t, c.log(), "GET /api/v1/namespaces/ns/secrets")
	})
}

func TestTypesWithoutDeleteCollectionAreDeletedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.verbs["services."] = []string{"delete", "list"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("services.", "ns", "a")
		c.put("services.", "ns", "b")
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		requests := c.log()
		assert.NotContains(t, requests, "DELETE /api/v1/namespaces/ns/services", "discovery says that it would be refused")
		assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/services/a")
		assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/services/b")
		assert.Nil(t, c.namespace("ns"))
	})
}

func TestCollectionDeleteThatIsRefusedFallsBackToOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("services.", "ns", "a")
		c.put("services.", "ns", "vanishing")
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/services") {
				return status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
			}
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/vanishing") {
				c.mu.Lock()
				delete(c.content["services."]["ns"], "vanishing") // somebody else was faster
				c.mu.Unlock()
			}
			return nil
		})
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Empty(t, c.left("ns"))
		assert.Nil(t, c.namespace("ns"))
	})
}

func TestOneByOneStopsAtAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.verbs["services."] = []string{"delete", "list"}
		c.addNamespace("ns", true, "kubernetes")
		c.put("services.", "ns", "a")
		c.put("services.", "ns", "b")
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/services/a") {
				return status(403, api.ReasonForbidden, "denied by policy")
			}
			return nil
		})
		err := newDeleter(t, c).Delete(t.Context(), "ns")
		var resource *nsctl.ResourceError
		require.ErrorAs(t, err, &resource)
		assert.Equal(t, "deleting a", resource.Doing)
		assert.Equal(t, []string{"services./a", "services./b"}, c.left("ns"))
	})
}

func TestTypesThatCannotBeListedCountAsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.verbs["leases.coordination.k8s.io"] = []string{"delete"}
		c.addNamespace("ns", true, "kubernetes")
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Nil(t, c.namespace("ns"))
		for _, request := range c.log() {
			assert.NotContains(t, request, "/leases")
		}
	})
}

func TestFinalizersOnContentAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("deployments.apps", "ns", "held", withFinalizers("example.com/hold"))
		deleter := newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, int64(15), remaining.Estimate)
		ns := c.namespace("ns")
		assert.Equal(t, "Some resources are remaining: deployments.apps has 1 resource instances", conditionOf(ns, api.NamespaceContentRemaining).Message)
		assert.Equal(t, api.ConditionFalse, conditionOf(ns, api.NamespaceDeletionContentFailure).Status)

		c.release("deployments.apps", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Nil(t, c.namespace("ns"))
	})
}

func TestConflictsAreRetriedOnTheNewState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		conflicts := 0
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") && conflicts < 3 {
				conflicts++
				c.update("ns", func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"kubernetes", "example.com/new"} })
			}
			return nil
		})
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, 3, conflicts)
		assert.Equal(t, []string{"example.com/new"}, c.namespace("ns").Spec.Finalizers, "what was added in the meantime is kept")
	})
}

// The original repeats for ever, without a pause (UPSTREAM: retryOnConflict loops without limit or delay).
func TestConflictRetriesAreBoundedAndBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				return status(409, api.ReasonConflict, "the object has been modified")
			}
			return nil
		})
		started := time.Now()
		err := newDeleter(t, c).Delete(t.Context(), "ns")
		require.True(t, api.IsConflict(err), "%v", err)
		tries := count(c.log(), "PUT /api/v1/namespaces/ns/finalize")
		assert.Greater(t, tries, 2)
		assert.Less(t, tries, 12)
		assert.Greater(t, time.Since(started), 300*time.Millisecond, "there are pauses (virtual time)")
	})
}

func TestConflictWithARecreatedNamespaceStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				c.addNamespace("ns", true, "kubernetes") // the same name, another UID
			}
			return nil
		})
		err := newDeleter(t, c).Delete(t.Context(), "ns")
		var changed *nsctl.UIDChangedError
		require.ErrorAs(t, err, &changed)
		assert.Equal(t, []string{"kubernetes"}, c.namespace("ns").Spec.Finalizers)
	})
}

func TestStatusThatCannotBeWrittenDoesNotStopTheDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes", "example.com/other")
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") {
				return status(403, api.ReasonForbidden, "no status for you")
			}
			return nil
		})
		var failed atomic.Int32
		trace := &nsctl.Trace{ConditionsFailed: func(string, error) { failed.Add(1) }}
		require.NoError(t, newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"example.com/other"}, c.namespace("ns").Spec.Finalizers)
		assert.Equal(t, int32(1), failed.Load(), "but it is told")
	})
}

func TestNamespaceThatVanishesMeanwhileIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodPut {
				return status(404, api.ReasonNotFound, "not found")
			}
			return nil
		})
		assert.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
	})
}

func TestErrorsOfTheGetAreReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.refuse(func(*http.Request) *api.Status { return status(403, api.ReasonForbidden, "no") })
		assert.True(t, api.IsForbidden(newDeleter(t, c).Delete(t.Context(), "ns")))
	})
}

func TestTypesAreEmptiedSideBySideWithinTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		var mu sync.Mutex
		running, most := 0, 0
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method != http.MethodDelete {
				return nil
			}
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(20 * time.Millisecond) // a server far away, in virtual time
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		deleter := newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Concurrency = 4 })
		started := time.Now()
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, 4, most)
		assert.Equal(t, 20*time.Millisecond*(1+8), time.Since(started), "pods alone, then 29 types, four at a time")
	})
}

func TestCancelledPassReportsTheCauseAndWritesNoConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		ctx, cancel := context.WithCancel(t.Context())
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete {
				cancel()
			}
			return nil
		})
		err := newDeleter(t, c).Delete(ctx, "ns")
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, c.namespace("ns").Status.Conditions)
	})
}

func TestDryRunLooksAndWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("pods.", "ns", "a", runningPod(30))
		c.put("configmaps.", "ns", "a")
		c.put("configmaps.", "ns", "b")
		would := map[string]int{}
		trace := &nsctl.Trace{WouldDelete: func(_ string, resource api.GroupVersionResource, items int, err error) {
			require.NoError(t, err)
			if items > 0 {
				would[resource.GroupResource()] = items
			}
		}}
		deleter := newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.DryRun, config.Trace = true, trace })
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, map[string]int{"pods.": 1, "configmaps.": 2}, would)
		assert.False(t, slices.ContainsFunc(c.log(), func(request string) bool { return !strings.HasPrefix(request, "GET ") }))
		assert.Len(t, c.left("ns"), 3)
		assert.Empty(t, c.namespace("ns").Status.Conditions)
	})
}

// What has gone with its definition would not be deleted, and is no error.
func TestDryRunForgivesATypeThatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.types["gone.example/v1"] = []string{"ghosts"}
		c.addNamespace("ns", true, "kubernetes")
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/ghosts") {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.types, "gone.example/v1")
			}
			return nil
		})
		deleter := newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.DryRun = true })
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.NotNil(t, c.namespace("ns"))
	})
}

func TestContentErrorReadsWellAloneAndInCompany(t *testing.T) {
	one := &nsctl.ContentError{Errors: []error{context.Canceled}}
	assert.EqualError(t, one, "context canceled")
	two := &nsctl.ContentError{Errors: []error{context.Canceled, context.DeadlineExceeded}}
	assert.EqualError(t, two, "2 errors: [context canceled, context deadline exceeded]")
	assert.ErrorIs(t, two, context.DeadlineExceeded)
}
