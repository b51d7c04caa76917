package nsctltest

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// A kube-apiserver that has just started lists only its built-in types. A deleter that believes it
// finalizes the namespace, and custom objects stay behind.
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
		c.AssertGone(t, "ns")
	})
}

// If a proxy answers 404 for one of the two discovery documents, the types of the other are not all
// there are.
func (s suite) HalfADiscoveryIsNotTrusted(t *testing.T) {
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
			c.Existing(t, "ns")
			assert.Len(t, c.Left("ns"), 2, "it may lack pods as well")
		})
	}
}

// A server with namespaces has namespaced types. An empty list of types means that the server is
// broken.
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
		require.ErrorAs(t, err, &groups, "types may be missing: want the pass to fail with the failure of discovery")
		assert.Equal(t, []string{"gauges.metrics.example/hidden"}, c.Left("ns"))
		failure := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure)
		assert.Equal(t, api.ConditionTrue, failure.Status)
		assert.True(t, strings.HasPrefix(failure.Message, "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.example/v1: "), failure.Message)

		// The group works again. The partial answer was not cached, so the next pass sees the
		// group.
		c.Stale = nil
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		c.AssertGone(t, "ns")
		assert.Empty(t, c.Left("ns"))
	})
}
