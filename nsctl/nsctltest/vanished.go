package nsctltest

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// A type that was removed since discovery answers 404. There is nothing to delete, and the
// discovery is out of date.
func (s suite) ARemovedTypeRefreshesDiscovery(t *testing.T) {
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
			c.AssertGone(t, "a")
			return
		}
		require.NoError(t, deleter.Delete(t.Context(), "a"))
		assert.Nil(t, c.Namespace("a"), "the first pass finds the type removed")
		assert.Equal(t, 2, Count(c.Log(), "GET /apis"), "asked again")
		require.NoError(t, deleter.Delete(t.Context(), "b"))
		assert.Zero(t, Count(c.Log(), "GET /apis"), "the second pass uses that answer")
	})
}

// A forgiven error is not traced: logs and metrics must not show a failure that the pass did not
// have.
func (s suite) ARemovedTypeIsReportedAsRemoved(t *testing.T) {
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
		reported := map[string]error{}
		trace := &nsctl.Trace{TypeDeleted: func(_ string, resource api.GroupVersionResource, _ int, err error) {
			mu.Lock()
			defer mu.Unlock()
			assert.NotContains(t, reported, resource.Resource, "each type is traced once")
			reported[resource.Resource] = err
		}}
		require.Error(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(t.Context(), "ns"))
		assert.Len(t, reported, 31)
		require.Contains(t, reported, "ghosts")
		assert.Equal(t, s.has(ForgivesVanishedTypes), reported["ghosts"] == nil, "only the error that fails the pass is traced")
		assert.True(t, api.IsForbidden(reported["secrets"]))
	})
}

// "Not found" for a type that the server lists proves nothing: the server may not have learnt of
// the type yet. Upstream finalizes.
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
					require.ErrorAs(t, err, &resource, "want a *ResourceError that says what failed")
					assert.Equal(t, "gadgets", resource.Resource.Resource)
					c.Existing(t, "ns")
					assert.Equal(t, "ContentDeletionFailed", ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Reason)

					c.Refuse(nil)
					require.NoError(t, deleter.Delete(t.Context(), "ns"))
					c.AssertGone(t, "ns")
					assert.Empty(t, c.Left("ns"))
				})
			})
		}
	}
}

// A type that an upgrade has moved to another version in the middle of a pass still exists, and so
// do its objects.
func (s suite) AMovedTypeStillExists(t *testing.T) {
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
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource, "want a *ResourceError that says what failed")
		c.Existing(t, "ns")
		assert.Equal(t, []string{"gadgets.moved.example/g"}, c.Left("ns"))

		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		c.AssertGone(t, "ns")
		assert.Empty(t, c.Left("ns"))
	})
}
