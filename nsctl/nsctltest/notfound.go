package nsctltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// The DELETE of the collection succeeds, a finalizer holds an object, and the verifying LIST
// answers 404 or 405. The type is still served, so that proves nothing: the namespace must stay.
func (s suite) AVerifyingListThatIsNotFoundProvesNothing(t *testing.T) {
	for _, refusal := range notServedAnswers {
		s.refused(t, "secrets.", nil, http.MethodGet, refusal)
		s.refused(t, "pods.", nil, http.MethodGet, refusal)
	}
}

var notServedAnswers = []*api.Status{
	Status(404, api.ReasonNotFound, "the server could not find the requested resource"),
	Status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource"),
}

// requireFailureOf asserts that the pass failed with an error that names the type.
func requireFailureOf(t *testing.T, err error, resource string) {
	t.Helper()
	var failed *nsctl.ContentError
	require.ErrorAs(t, err, &failed, "%s may not be empty: the pass must fail, and say so", resource)
	var types []string
	for _, err := range failed.Errors {
		if refused, ok := errors.AsType[*nsctl.ResourceError](err); ok {
			types = append(types, refused.Resource.Resource)
		}
	}
	assert.Contains(t, types, resource)
}

// strangeNotFounds are 404s that do not come from the API server, or are not about the namespace.
var strangeNotFounds = map[string]string{
	"nothing":       "",
	"text":          "default backend - 404",
	"a page":        "<html>404 Not Found</html>",
	"another JSON":  `{"message":"no Route matched with those values","code":404,"reason":"NotFound"}`,
	"a bare Status": `{"kind":"Status","apiVersion":"v1","status":"Failure","code":404}`,
	"about something": `{"kind":"Status","status":"Failure","code":404,"reason":"NotFound",` +
		`"details":{"kind":"services","name":"ns"}}`,
	"about all resources": `{"kind":"Status","status":"Failure","code":404,"reason":"NotFound",` +
		`"details":{"causes":[{"reason":"UnexpectedServerResponse"}]}}`,
}

// A load balancer answers 404 for the namespace: the pass fails, and another one follows.
func (s suite) OnlyTheServerSaysThatANamespaceIsGone(t *testing.T) {
	for name, body := range strangeNotFounds {
		for _, request := range []string{"GET /api/v1/namespaces/ns", "PUT /api/v1/namespaces/ns/finalize"} {
			Bubble(t, func(t *testing.T, c *Cluster) {
				c.AddNamespace("ns", true, "kubernetes")
				balancer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method+" "+r.URL.Path != request {
						c.ServeHTTP(w, r)
						return
					}
					w.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(w, body)
				})
				err := s.newDeleter(t, balancer).Delete(t.Context(), "ns")
				assert.Error(t, err, "%s is answered with a 404 of %s: that is no proof that the namespace is gone",
					request, name)
				require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
				assert.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"),
					"the server itself says that it is gone")
			})
		}
	}
}

// A type answers 404, and the new discovery does not prove that it was removed: its group does not
// answer, nothing is listed, or a group version cannot be parsed.
func (s suite) NotFoundIsAFailureIfDiscoveryProvesNothing(t *testing.T) {
	tests := map[string]func(c *Cluster){
		"its group went stale": func(c *Cluster) { c.Stale = []string{"gadgets.example/v1"} },
		"another one went stale": func(c *Cluster) {
			delete(c.Types,
				"gadgets.example/v1")
			c.Stale = []string{"apps/v1"}
		},
		"nothing is listed":    func(c *Cluster) { clear(c.Types) },
		"discovery is refused": func(c *Cluster) { c.Starting = true },
	}
	for name, change := range tests {
		for _, refusal := range notServedAnswers {
			BubbleRun(t, name+" "+string(refusal.Reason), func(t *testing.T, c *Cluster) {
				c.Types["gadgets.example/v1"] = []string{"gadgets"}
				c.AddNamespace("ns", true, "kubernetes")
				c.Put("gadgets.gadgets.example", "ns", "g")
				c.Refuse(func(r *http.Request) *api.Status {
					if !strings.HasSuffix(r.URL.Path, "/gadgets") {
						return nil
					}
					c.mu.Lock()
					defer c.mu.Unlock()
					change(c)
					return refusal
				})
				requireFailureOf(t, s.newDeleter(t, c).Delete(t.Context(), "ns"), "gadgets")
				require.NotNil(t, c.Namespace("ns"), "finalized although gadgets/g is still there")
				assert.Equal(t, []string{"gadgets.gadgets.example/g"}, c.Left("ns"))
			})
		}
	}
}

// As above, but one of the new group versions cannot be parsed; the type may be there under another
// name.
func (s suite) NotFoundIsAFailureIfAGroupIsUnreadable(t *testing.T, c doomed) {
	c.Types["gadgets.example/v1"] = []string{"gadgets"}
	c.Put("gadgets.gadgets.example", "ns", "g")
	garbled := &garbledDiscovery{}
	c.Refuse(func(r *http.Request) *api.Status {
		if strings.HasSuffix(r.URL.Path, "/gadgets") {
			garbled.now.Store(true)
			return notServedAnswers[0]
		}
		return nil
	})
	deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) {
		garbled.Discovery, config.Discovery = config.Discovery, garbled
	})
	requireFailureOf(t, deleter.Delete(t.Context(), "ns"), "gadgets")
	require.NotNil(t, c.Namespace("ns"), "finalized although gadgets/g is still there")

	c.Refuse(nil)
	require.Error(t, deleter.Delete(t.Context(), "ns"))
	require.NotNil(t, c.Namespace("ns"), "finalized although a group version could not be read")
	parsing := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionGVParsingFailure)
	assert.Equal(t, "GroupVersionParsingFailed", parsing.Reason)
	assert.Equal(t, api.ConditionTrue, parsing.Status)
}

// garbledDiscovery replaces the group version of gadgets, once set, with one that cannot be parsed.
type garbledDiscovery struct {
	nsctl.Discovery
	now atomic.Bool
}

func (g *garbledDiscovery) PreferredNamespacedResources(ctx context.Context,
	notOlderThan time.Time) ([]*api.APIResourceList, error) {
	lists, err := g.Discovery.PreferredNamespacedResources(ctx, notOlderThan)
	if !g.now.Load() {
		return lists, err
	}
	var garbled []*api.APIResourceList
	for _, list := range lists {
		if list.GroupVersion == "gadgets.example/v1" {
			list = &api.APIResourceList{GroupVersion: "gadgets/example/v1", Resources: list.Resources}
		}
		garbled = append(garbled, list)
	}
	return garbled, err
}

// A type that was removed since discovery answers 404. There is nothing to delete, and the
// discovery is out of date.
func (s suite) ARemovedTypeRefreshesDiscovery(t *testing.T, c *Cluster) {
	c.Types["gone.example/v1"] = []string{"ghosts"}
	c.AddNamespace("a", true, "kubernetes")
	c.AddNamespace("b", true, "kubernetes")
	time.Sleep(5 * time.Second)
	deleter := s.newDeleter(t, c)
	c.Before("", "/ghosts", func() { c.Undefine("gone.example/v1") })
	if !s.has(ForgivesVanishedTypes) {
		requireFailureOf(t, deleter.Delete(t.Context(), "a"), "ghosts")
		require.NoError(t, deleter.Delete(t.Context(), "a"))
		c.AssertGone(t, "a")
		return
	}
	require.NoError(t, deleter.Delete(t.Context(), "a"))
	assert.Nil(t, c.Namespace("a"), "the first pass finds the type removed")
	assert.Equal(t, 2, Count(c.Log(), "GET /apis"), "asked again")
	require.NoError(t, deleter.Delete(t.Context(), "b"))
	assert.Zero(t, Count(c.Log(), "GET /apis"), "the second pass uses that answer")
}

// A forgiven error is not traced: logs and metrics must not show a failure that the pass did not
// have.
func (s suite) ARemovedTypeIsReportedAsRemoved(t *testing.T, c doomed) {
	c.Types["gone.example/v1"] = []string{"ghosts"}
	c.Refuse(func(r *http.Request) *api.Status {
		switch {
		case strings.HasSuffix(r.URL.Path, "/secrets"):
			return Status(403, api.ReasonForbidden, "no")
		case strings.HasSuffix(r.URL.Path, "/ghosts"):
			c.Undefine("gone.example/v1")
		}
		return nil
	})
	var mu sync.Mutex
	reported := map[string]error{}
	trace := &nsctl.Trace{TypeDeleted: func(_ string, resource api.GroupVersionResource, _ int, err error) {
		mu.Lock()
		defer mu.Unlock()
		assert.NotContains(t, reported, resource.Resource, "each type is traced once")
		reported[resource.Resource] = err
	}}
	require.Error(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).
		Delete(t.Context(), "ns"))
	assert.Len(t, reported, 31)
	require.Contains(t, reported, "ghosts")
	assert.Equal(t, s.has(ForgivesVanishedTypes), reported["ghosts"] == nil,
		"only the error that fails the pass is traced")
	assert.True(t, api.IsForbidden(reported["secrets"]))
}

// "Not found" for a type that the server lists proves nothing: the server may not have learnt of
// the type yet. Upstream finalizes.
func (s suite) ATypeThatIsListedAndNotFoundIsNotEmpty(t *testing.T) {
	for _, refusal := range notServedAnswers {
		for _, verbs := range [][]string{nil, {"delete", "deletecollection"}, {"delete", "list"}} {
			s.refused(t, "gadgets.late.example", verbs, "", refusal)
		}
	}
}

// A type that an upgrade has moved to another version in the middle of a pass still exists, and so
// do its objects.
func (s suite) AMovedTypeStillExists(t *testing.T, c doomed) {
	c.Types["moved.example/v1beta1"] = []string{"gadgets"}
	c.Put("gadgets.moved.example", "ns", "g")
	c.Refuse(func(r *http.Request) *api.Status {
		if !strings.HasPrefix(r.URL.Path, "/apis/moved.example/v1beta1/") {
			return nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.Types, "moved.example/v1beta1")
		c.Types["moved.example/v1"] = []string{"gadgets"}
		return notServedAnswers[0]
	})
	deleter := s.newDeleter(t, c)
	var resource *nsctl.ResourceError
	require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource, "want a *ResourceError that says what failed")
	c.Existing(t, "ns")
	assert.Equal(t, []string{"gadgets.moved.example/g"}, c.Left("ns"))

	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
}

// A kube-apiserver that has just started lists only its built-in types. A deleter that believes it
// finalizes the namespace, and custom objects stay behind.
func (s suite) ServerThatIsStartingIsNotBelieved(t *testing.T, c doomed) {
	c.Types["gadgets.example/v1"] = []string{"gadgets"}
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
	c.AssertGone(t, "ns")
}

// If a proxy answers 404 for one of the two discovery documents, the types of the other are not all
// there are.
func (s suite) HalfADiscoveryIsNotTrusted(t *testing.T) {
	for _, path := range []string{"/api", "/apis"} {
		Bubble(t, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("secrets.", "ns", "s")
			c.Put("deployments.apps", "ns", "web")
			c.RefuseAll("", path, Status(404, api.ReasonNotFound, "default backend"))
			require.Error(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
			c.Existing(t, "ns")
			assert.Len(t, c.Left("ns"), 2, "it may lack pods as well")
		})
	}
}

// A server with namespaces has namespaced types. An empty list of types means that the server is
// broken.
func (s suite) DiscoveryThatFindsNothingIsNotBelieved(t *testing.T, c doomed) {
	c.Types = nil
	c.Put("configmaps.", "ns", "a")
	assert.ErrorIs(t, s.newDeleter(t, c).Delete(t.Context(), "ns"), nsctl.ErrNothingDiscovered)
	assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure).Status)
}

func (s suite) IncompleteDiscoveryDeletesWhatItSeesAndDoesNotFinalize(t *testing.T, c doomed) {
	c.Types["metrics.example/v1"] = []string{"gauges"}
	c.Stale = []string{"metrics.example/v1"}
	c.Put("configmaps.", "ns", "a")
	c.Put("gauges.metrics.example", "ns", "hidden")
	deleter := s.newDeleter(t, c)

	err := deleter.Delete(t.Context(), "ns")
	var groups *discovery.ErrGroupDiscoveryFailed
	require.ErrorAs(t, err, &groups, "types may be missing: want the pass to fail with the failure of discovery")
	assert.Equal(t, []string{"gauges.metrics.example/hidden"}, c.Left("ns"))
	failure := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure)
	assert.Equal(t, api.ConditionTrue, failure.Status)
	assert.True(t, strings.HasPrefix(failure.Message,
		"Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "+
			"metrics.example/v1: "), failure.Message)

	// The group works again. The partial answer was not cached, so the next pass sees the
	// group.
	c.Stale = nil
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
}
