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

func (s suite) NamespacesThatAreNotBeingDeletedAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("active", false, "kubernetes")
		c.Put("configmaps.", "active", "a")
		deleter := s.newDeleter(t, c)
		require.NoError(t, deleter.Delete(t.Context(), "active"), "a namespace that is not being deleted is no error")
		assert.Equal(t, []string{"GET /api/v1/namespaces/active"}, c.Log(), "a namespace that is not being deleted is only read")
		require.NoError(t, deleter.Delete(t.Context(), "missing"), "a namespace that is gone is no error: nothing is left to do")
		assert.Equal(t, []string{"GET /api/v1/namespaces/missing"}, c.Log(), "a namespace that is gone is only read")
		assert.Equal(t, []string{"configmaps./a"}, c.Left("active"), "content of a namespace that is not being deleted was deleted")
	})
}

// A namespace of that name was deleted before. The present one is another, whose grace period has
// not ended.
func (s suite) ANamespaceThatWasRecreatedIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		ns := c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		seen := nsctl.ObservedDeletion{UID: "uid of an earlier one", Settled: time.Now()}
		require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
		assert.Equal(t, []string{"configmaps./a"}, c.Left("ns"), "content was deleted before the grace period ended")
		c.Existing(t, "ns")

		seen.UID = ns.UID
		require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
		c.AssertGone(t, "ns")
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

// A conflict may mean that another client has set the phase: then there is nothing more to write.
func (s suite) PhaseThatAnotherClientHasSetIsNotSetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		c.Update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive })
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") && c.Existing(t, "ns").Status.Phase == api.NamespaceActive {
				c.Update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceTerminating })
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, 2, Count(c.Log(), "PUT /api/v1/namespaces/ns/status"), "the write that met the conflict, and the conditions")
	})
}

// In the namespace design the controller ends with a DELETE. Current servers remove the object
// themselves.
func (s suite) FinalDeleteForOlderServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true)
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		if !s.has(DeletesFinalized) {
			assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log(), "spec.finalizers is empty: want nothing but the GET")
			return
		}
		assert.Equal(t, []string{"GET /api/v1/namespaces/ns", "DELETE /api/v1/namespaces/ns"}, c.Log())
		c.AssertGone(t, "ns")
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
		c.Existing(t, "ns")
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
