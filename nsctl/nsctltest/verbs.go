package nsctltest

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// A type that cannot be listed gets a second collection delete: the answer shows what was left.
func (s suite) UnlistableContentIsFoundInTheDeleteAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Verbs["secrets."] = []string{"delete", "deletecollection"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("secrets.", "ns", "held", WithFinalizers("example.com/hold"))
		c.Put("secrets.", "ns", "free")
		deleter := s.newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining, wantRemaining)
		c.Existing(t, "ns")
		c.Release("secrets.", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		c.AssertGone(t, "ns")
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
		c.AssertGone(t, "ns")
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
		c.AssertGone(t, "ns")
	})
}

// A server that is upgraded during a pass may refuse a verb that discovery lists. Discovery is then
// out of date: the next pass requests it again, and does not repeat the refused request.
func (s suite) CollectionDeleteThatIsRefusedRefreshesDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("services.", "ns", "held", WithFinalizers("example.com/hold"))
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/services") {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.Verbs["services."] = []string{"delete", "list"}
			}
			return nil
		})
		time.Sleep(5 * time.Second) // the grace period: discovery after it is recent enough for both passes
		deleter := s.newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining, wantRemaining)
		require.Contains(t, c.Log(), "DELETE /api/v1/namespaces/ns/services")
		c.Release("services.", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.NotContains(t, c.Log(), "DELETE /api/v1/namespaces/ns/services", "the second pass repeats a request that was refused")
		c.AssertGone(t, "ns")
	})
}

func (s suite) OneByOneStopsAtAnError(t *testing.T) {
	for _, refusal := range []*api.Status{
		Status(403, api.ReasonForbidden, "denied by policy"),
		Status(409, api.ReasonConflict, "the object has been modified"),
	} {
		t.Run(string(refusal.Reason), func(t *testing.T) {
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
				require.ErrorAs(t, err, &resource, "want a *ResourceError that says what failed")
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
		c.AssertGone(t, "ns")
		for _, request := range c.Log() {
			assert.NotContains(t, request, "/leases")
		}
	})
}
