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

const (
	putStatus   = "PUT /api/v1/namespaces/ns/status"
	putFinalize = "PUT /api/v1/namespaces/ns/finalize"
)

// writes picks the writes to the namespace, in their order.
func writes(requests []string) []string {
	var found []string
	for _, request := range requests {
		if strings.HasPrefix(request, http.MethodPut) {
			found = append(found, request)
		}
	}
	return found
}

// A namespace that vanishes with the controller's token would be gone before anybody could read a report.
func TestNoReportAboutANamespaceThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "a")
		require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{putFinalize}, writes(c.log()))
		assert.Nil(t, c.namespace("ns"))
	})
}

// Whoever watches a namespace to its end must not be left with the news that content remains.
func TestTroubleThatWasReportedIsTakenBackBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.put("configmaps.", "ns", "held", withFinalizers("example.com/hold"))
		deleter := newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining)
		assert.Equal(t, []string{putStatus}, writes(c.log()))

		c.release("configmaps.", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, []string{putStatus, putFinalize}, writes(c.log()))
		c.mu.Lock()
		defer c.mu.Unlock()
		last := c.changes[len(c.changes)-1]
		assert.Equal(t, api.WatchDeleted, last.eventType)
		assert.Equal(t, api.ConditionFalse, conditionOf(last.namespace, api.NamespaceContentRemaining).Status)
	})
}

func TestReportAboutANamespaceThatOthersHold(t *testing.T) {
	holds := map[string]func(*api.Namespace){
		"a token in the spec":       func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"kubernetes", "example.com/other"} },
		"a finalizer of the object": func(ns *api.Namespace) { ns.Finalizers = []string{"example.com/other"} },
	}
	for name, hold := range holds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.addNamespace("ns", true, "kubernetes")
				c.update("ns", hold)
				require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
				assert.Equal(t, []string{putStatus, putFinalize}, writes(c.log()))
				assert.Len(t, c.namespace("ns").Status.Conditions, 5)
			})
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.addNamespace("ns", true, "kubernetes")
				c.refuse(func(r *http.Request) *api.Status {
					if strings.HasSuffix(r.URL.Path, "/finalize") && c.namespace("ns").ResourceVersion == "1" {
						c.update("ns", hold) // between the pass and its last write
					}
					return nil
				})
				require.NoError(t, newDeleter(t, c).Delete(t.Context(), "ns"))
				assert.Equal(t, []string{putFinalize, putFinalize, putStatus}, writes(c.log()))
				assert.Len(t, c.namespace("ns").Status.Conditions, 5)
			})
		})
	}
}

func TestReportAboutANamespaceThatCannotBeFinalized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				return status(403, api.ReasonForbidden, "not you")
			}
			return nil
		})
		require.True(t, api.IsForbidden(newDeleter(t, c).Delete(t.Context(), "ns")))
		assert.Equal(t, []string{putFinalize, putStatus}, writes(c.log()))
		assert.Equal(t, api.ConditionFalse, conditionOf(c.namespace("ns"), api.NamespaceContentRemaining).Status)
	})
}
