package nsctltest

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

func (s suite) NamespacesThatAreNotBeingDeletedAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("active", false, "kubernetes")
		c.Put("configmaps.", "active", "a")
		deleter := s.newDeleter(t, c)
		require.NoError(t, deleter.Delete(t.Context(), "active"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/active"}, c.Log())
		require.NoError(t, deleter.Delete(t.Context(), "missing"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/missing"}, c.Log())
		assert.Equal(t, []string{"configmaps./a"}, c.Left("active"))
	})
}

// The name is that of a namespace whose deletion was seen; what has it now is another one, whose grace period has not ended.
func (s suite) ANamespaceThatWasRecreatedIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		ns := c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		seen := nsctl.ObservedDeletion{UID: "uid of the one before", DeletedAt: ns.DeletionTimestamp.Time, Settled: time.Now()}
		require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
		assert.Equal(t, []string{"configmaps./a"}, c.Left("ns"), "content of a namespace that has not settled was deleted")
		assert.NotNil(t, c.Namespace("ns"))

		seen.UID = ns.UID
		require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
		assert.Nil(t, c.Namespace("ns"), "this is the one that was seen")
	})
}

func (s suite) PhaseIsSetForServersThatDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		c.Update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive })
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, api.NamespaceTerminating, c.Existing(t, "ns").Status.Phase)
	})
}

// The namespace design ends with a final DELETE by the controller. Servers of today remove the object themselves.
func (s suite) FinalDeleteForOlderServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true)
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		if !s.has(DeletesFinalized) {
			assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log())
			return
		}
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns", "DELETE /api/v1/namespaces/ns"}, c.Log())
		assert.Nil(t, c.Namespace("ns"))
	})
}

func (s suite) FinalDeleteSparesANamespaceThatWasRecreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true)
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete {
				c.AddNamespace("ns", false, "kubernetes") // between our GET and our DELETE
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.NotNil(t, c.Namespace("ns"))
	})
}

func (s suite) FinalDeleteWaitsForMetadataFinalizers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true)
		c.Update("ns", func(ns *api.Namespace) { ns.Finalizers = []string{"example.com/hold"} })
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log())
	})
}
