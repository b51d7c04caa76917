package nsctltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// The DELETE of the collection succeeds, a finalizer holds an object, and the verifying LIST
// answers 404 or 405. The type is still served, so that proves nothing: the namespace must stay.
func (s suite) AVerifyingListThatIsNotFoundProvesNothing(t *testing.T) {
	for _, resource := range []string{"secrets", "pods"} {
		for _, refusal := range notServedAnswers {
			t.Run(resource+" "+string(refusal.Reason), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := NewCluster()
					c.AddNamespace("ns", true, "kubernetes")
					c.Put(resource+".", "ns", "held", WithFinalizers("example.com/hold"))
					c.Refuse(func(r *http.Request) *api.Status {
						if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+resource) {
							return refusal
						}
						return nil
					})
					deleter := s.newDeleter(t, c)
					requireFailureOf(t, deleter.Delete(t.Context(), "ns"), resource)
					require.NotNil(t, c.Namespace("ns"), "finalized although %s/held is still there", resource)
					assert.Equal(t, []string{resource + "./held"}, c.Left("ns"))
					assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Status)

					c.Refuse(nil)
					c.Release(resource+".", "ns", "held")
					require.NoError(t, deleter.Delete(t.Context(), "ns"))
					c.AssertGone(t, "ns")
				})
			})
		}
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
	require.ErrorAs(t, err, &failed, "%s answered as if it were not served: the pass must fail", resource)
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
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
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
		"its group went stale":   func(c *Cluster) { c.Stale = []string{"gadgets.example/v1"} },
		"another one went stale": func(c *Cluster) { delete(c.Types, "gadgets.example/v1"); c.Stale = []string{"apps/v1"} },
		"nothing is listed":      func(c *Cluster) { clear(c.Types) },
		"discovery is refused":   func(c *Cluster) { c.Starting = true },
	}
	for name, change := range tests {
		for _, refusal := range notServedAnswers {
			t.Run(name+" "+string(refusal.Reason), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := NewCluster()
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
			})
		}
	}
}

// As above, but one of the new group versions cannot be parsed; the type may be there under another
// name.
func (s suite) NotFoundIsAFailureIfAGroupIsUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["gadgets.example/v1"] = []string{"gadgets"}
		c.AddNamespace("ns", true, "kubernetes")
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
	})
}

// garbledDiscovery replaces the group version of gadgets, once set, with one that cannot be parsed.
type garbledDiscovery struct {
	nsctl.Discovery
	now atomic.Bool
}

func (g *garbledDiscovery) PreferredNamespacedResources(ctx context.Context, notOlderThan time.Time) ([]*api.APIResourceList, error) {
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
