package nsctltest

import (
	"fmt"
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

// A namespace without this controller's token waits for somebody else, and may be re-created at any
// moment. Upstream deletes its content as long as any token is left.
func (s suite) ANamespaceWithoutTheTokenIsLeftAlone(t *testing.T) {
	for name, finalizers := range map[string][]string{
		"another token": {"example.com/other"}, "none": nil, "two others": {"kubernetes.io", "example.com/kubernetes"},
	} {
		for _, phase := range []api.NamespacePhase{api.NamespaceTerminating, api.NamespaceActive} {
			for _, dry := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", phase, " dry run ", dry), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c := NewCluster()
						c.AddNamespace("ns", true, finalizers...)
						c.Update("ns", func(ns *api.Namespace) {
							ns.Status.Phase = phase
							ns.Finalizers = []string{"example.com/hold"}
						})
						c.Put("pods.", "ns", "p")
						c.Put("secrets.", "ns", "s")
						var told [][]string
						trace := &nsctl.Trace{
							NoToken: func(_ string, finalizers []string) { told = append(told, finalizers) },
							WouldDelete: func(string, api.GroupVersionResource, nsctl.Found, error) {
								t.Error("a dry run promised to delete something")
							},
						}
						deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) {
							config.Trace = trace
							config.DryRun = dry
						})
						require.NoError(t, deleter.Delete(t.Context(), "ns"))
						assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log(),
							"without the token a pass only reads the namespace")
						assert.Equal(t, []string{"pods./p", "secrets./s"}, c.Left("ns"),
							"content was deleted without the token")
						assert.Equal(t, [][]string{finalizers}, told, "the pass says why it does nothing")
					})
				})
			}
		}
	}
}

// Another party removes the token while the phase is written.
func (s suite) ANamespaceThatLosesTheTokenIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		c.Update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive })
		c.Put("secrets.", "ns", "s")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") {
				c.Update("ns", func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"example.com/other"} })
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"secrets./s"}, c.Left("ns"), "content was deleted without the token")
		assert.Len(t, writes(c.Log()), 1, "the write that met the conflict is not repeated")
	})
}
