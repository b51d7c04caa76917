package nsctl_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// The DELETE of the collection succeeds, a finalizer holds an object, and the LIST that verifies answers 404 or 405. The type is
// still served, so this proves nothing: the namespace must stay.
func TestAVerifyingListThatIsNotFoundProvesNothing(t *testing.T) {
	for _, resource := range []string{"secrets", "pods"} {
		for _, refusal := range notServedAnswers {
			t.Run(resource+" "+string(refusal.Reason), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCluster()
					c.addNamespace("ns", true, "kubernetes")
					c.put(resource+".", "ns", "held", withFinalizers("example.com/hold"))
					c.refuse(func(r *http.Request) *api.Status {
						if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+resource) {
							return refusal
						}
						return nil
					})
					deleter := newDeleter(t, c)
					requireFailureOf(t, deleter.Delete(t.Context(), "ns"), resource)
					require.NotNil(t, c.namespace("ns"), "finalized although %s/held is still there", resource)
					assert.Equal(t, []string{resource + "./held"}, c.left("ns"))
					assert.Equal(t, api.ConditionTrue, conditionOf(c.namespace("ns"), api.NamespaceDeletionContentFailure).Status)

					c.refuse(nil)
					c.release(resource+".", "ns", "held")
					require.NoError(t, deleter.Delete(t.Context(), "ns"))
					assert.Nil(t, c.namespace("ns"))
				})
			})
		}
	}
}

var notServedAnswers = []*api.Status{
	status(404, api.ReasonNotFound, "the server could not find the requested resource"),
	status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource"),
}

// requireFailureOf asserts that the pass failed, and that its error names the type.
func requireFailureOf(t *testing.T, err error, resource string) {
	t.Helper()
	var failed *nsctl.ResourceError
	require.ErrorAs(t, err, &failed, "%s answered as if it were not served: the pass must fail", resource)
	assert.Equal(t, resource, failed.Resource.Resource)
}

// A type answers 404, and what discovery says afterwards does not prove that it has gone: its group does not answer now, nothing is
// listed, or a group version cannot be read.
func TestADiscoveryThatProvesNothingForgivesNoNotFound(t *testing.T) {
	tests := map[string]func(c *cluster){
		"its group went stale":   func(c *cluster) { c.stale = []string{"gadgets.example/v1"} },
		"another one went stale": func(c *cluster) { delete(c.types, "gadgets.example/v1"); c.stale = []string{"apps/v1"} },
		"nothing is listed":      func(c *cluster) { clear(c.types) },
		"discovery is refused":   func(c *cluster) { c.starting = true },
	}
	for name, change := range tests {
		for _, refusal := range notServedAnswers {
			t.Run(name+" "+string(refusal.Reason), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCluster()
					c.types["gadgets.example/v1"] = []string{"gadgets"}
					c.addNamespace("ns", true, "kubernetes")
					c.put("gadgets.gadgets.example", "ns", "g")
					c.refuse(func(r *http.Request) *api.Status {
						if !strings.HasSuffix(r.URL.Path, "/gadgets") {
							return nil
						}
						c.mu.Lock()
						defer c.mu.Unlock()
						change(c)
						return refusal
					})
					requireFailureOf(t, newDeleter(t, c).Delete(t.Context(), "ns"), "gadgets")
					require.NotNil(t, c.namespace("ns"), "finalized although gadgets/g is still there")
					assert.Equal(t, []string{"gadgets.gadgets.example/g"}, c.left("ns"))
				})
			})
		}
	}
}
