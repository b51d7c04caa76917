package nsctltest

import (
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

// A load balancer answers 404 for the namespace, in one request of a pass: the pass fails, and
// another one follows.
func (s suite) OnlyTheServerSaysThatANamespaceIsGone(t *testing.T) {
	const get, finalize = "GET /api/v1/namespaces/ns", putFinalize
	for name, body := range strangeNotFounds {
		for _, request := range []struct {
			line string
			nth  int32 // of those requests
		}{{get, 1}, {get, 2}, {finalize, 1}} {
			Bubble(t, func(t *testing.T, c *Cluster) {
				c.AddNamespace("ns", true, "kubernetes")
				c.Put("secrets.", "ns", "a") // so that the namespace is read again, right before the deletion
				var seen atomic.Int32
				balancer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method+" "+r.URL.Path != request.line || seen.Add(1) != request.nth {
						c.ServeHTTP(w, r)
						return
					}
					w.WriteHeader(http.StatusNotFound)
					_, _ = io.WriteString(w, body)
				})
				err := s.newDeleter(t, balancer).Delete(t.Context(), "ns")
				if request.nth == 1 { // otherwise the pass may do without
					assert.Error(t, err, "%s is answered with a 404 of %s: that is no proof that the namespace is gone",
						request.line, name)
				}
				require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
				assert.Empty(t, c.Left("ns"), "a pass over a namespace with content counts as a success")
				assert.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"),
					"the server itself says that it is gone")
			})
		}
	}
}

// A type that discovery has listed is not found: it was removed with its definition, or an upgrade
// has moved it, with its objects, to another version. The pass fails, because it cannot know. The
// next one asks discovery again.
func (s suite) ATypeThatVanishesFailsOnePass(t *testing.T) {
	for name, left := range map[string][]string{"removed": nil, "moved": {"gadgets.moving.example/g"}} {
		BubbleRun(t, name, func(t *testing.T, c *Cluster) {
			c.Types["moving.example/v1beta1"] = []string{"gadgets"}
			c.AddNamespace("ns", true, "kubernetes")
			if left != nil {
				c.Put("gadgets.moving.example", "ns", "g")
			}
			c.Before("", "/gadgets", sync.OnceFunc(func() {
				c.Undefine("moving.example/v1beta1")
				if left != nil {
					c.Define("moving.example/v1", "gadgets")
				}
			}))
			time.Sleep(5 * time.Second) // the grace period: discovery after it is recent enough for both passes
			deleter := s.newDeleter(t, c)
			requireFailureOf(t, deleter.Delete(t.Context(), "ns"), "gadgets")
			c.Existing(t, "ns")
			assert.Equal(t, left, c.Left("ns"))
			require.NoError(t, deleter.Delete(t.Context(), "ns"), "the next pass asks discovery again")
			c.AssertGone(t, "ns")
		})
	}
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
