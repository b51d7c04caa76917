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
