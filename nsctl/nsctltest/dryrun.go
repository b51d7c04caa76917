package nsctltest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

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

// A type that was removed has nothing to delete; that is not an error.
func (s suite) DryRunIgnoresARemovedType(t *testing.T) {
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
		c.Existing(t, "ns")
	})
}
