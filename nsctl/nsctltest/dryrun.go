package nsctltest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		would := map[string]nsctl.Found{}
		trace := &nsctl.Trace{WouldDelete: func(_ string, r api.GroupVersionResource, found nsctl.Found, err error) {
			require.NoError(t, err)
			if found.Total() > 0 {
				would[r.GroupResource()] = found
			}
		}}
		deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.DryRun, config.Trace = true, trace })
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, map[string]nsctl.Found{
			"pods.":       {ToDelete: 1, Names: []string{"a"}},
			"configmaps.": {BehindPods: 2, Names: []string{"a", "b"}},
		}, would)
		assert.False(t, slices.ContainsFunc(c.Log(), func(request string) bool { return !strings.HasPrefix(request, "GET ") }))
		assert.Len(t, c.Left("ns"), 3)
		assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
	})
}

// What already terminates is not deleted again: a finalizer holds it, or it ends by itself.
func (s suite) DryRunTellsApartWhatAlreadyTerminates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		terminating := func(i *item) {
			now := api.NewTime(time.Now())
			i.Metadata.DeletionTimestamp = &now
		}
		c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"), terminating)
		c.Put("configmaps.", "ns", "free", WithFinalizers("example.com/hold"))
		c.Put("secrets.", "ns", "a")
		would := map[string]nsctl.Found{}
		trace := &nsctl.Trace{WouldDelete: func(_ string, r api.GroupVersionResource, found nsctl.Found, _ error) {
			would[r.GroupResource()] = found
		}}
		deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.DryRun, config.Trace = true, trace })
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, nsctl.Found{ToDelete: 1, Held: 1, Names: []string{"free", "held"}}, would["configmaps."],
			"it has a finalizer as well, and is not held yet")
		assert.Equal(t, nsctl.Found{ToDelete: 1, Names: []string{"a"}}, would["secrets."])

		c.Put("pods.", "ns", "p", RunningPod(30), terminating)
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, nsctl.Found{Ending: 1, Names: []string{"p"}}, would["pods."])
		assert.Equal(t, nsctl.Found{BehindPods: 1, Held: 1, Names: []string{"free", "held"}}, would["configmaps."],
			"pods that terminate are in the way, too")
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
