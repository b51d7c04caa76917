package nsctltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

// writes returns the writes to the namespace, in order.
func writes(requests []string) []string {
	var found []string
	for _, request := range requests {
		if strings.HasPrefix(request, http.MethodPut) {
			found = append(found, request)
		}
	}
	return found
}

// A namespace that disappears with the controller's token would be gone before a client could read
// a report.
func (s suite) NoReportAboutAFinalizedNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		want := []string{putStatus, putFinalize}
		if s.has(SkipsLastReport) {
			want = []string{putFinalize}
		}
		assert.Equal(t, want, writes(c.Log()))
		c.AssertGone(t, "ns")
	})
}

// The last watch event must not say that content remains.
func (s suite) ReportedProblemsAreClearedBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
		deleter := s.newDeleter(t, c)
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining, wantRemaining)
		assert.Equal(t, []string{putStatus}, writes(c.Log()))

		c.Release("configmaps.", "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, []string{putStatus, putFinalize}, writes(c.Log()))
		c.mu.Lock()
		defer c.mu.Unlock()
		last := c.changes[len(c.changes)-1]
		assert.Equal(t, api.WatchDeleted, last.eventType)
		assert.Equal(t, api.ConditionFalse, ConditionOf(last.namespace, api.NamespaceContentRemaining).Status)
	})
}

// A new process reports why the namespace hangs, although there is nothing to write.
func (s suite) ExistingConditionsAreTraced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
		var traced []string
		record := func(hook string) func(string, []api.NamespaceCondition) {
			return func(namespace string, conditions []api.NamespaceCondition) {
				assert.True(t, nsctl.ReportsTrouble(conditions))
				traced = append(traced, hook+" "+namespace)
			}
		}
		trace := &nsctl.Trace{ConditionsUpdated: record("updated"), ConditionsKept: record("kept")}
		for range 2 {
			deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace })
			require.Error(t, deleter.Delete(t.Context(), "ns"))
		}
		assert.Equal(t, []string{"updated ns", "kept ns"}, traced, "want the conditions of each pass traced")
	})
}

func (s suite) ReportAboutANamespaceThatOthersHold(t *testing.T) {
	holds := map[string]func(*api.Namespace){
		"a token in the spec":       func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"kubernetes", "example.com/other"} },
		"a finalizer of the object": func(ns *api.Namespace) { ns.Finalizers = []string{"example.com/other"} },
	}
	for name, hold := range holds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.AddNamespace("ns", true, "kubernetes")
				c.Update("ns", hold)
				require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
				assert.Equal(t, []string{putStatus, putFinalize}, writes(c.Log()))
				assert.Len(t, c.Existing(t, "ns").Status.Conditions, 5)
			})
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.AddNamespace("ns", true, "kubernetes")
				held := false
				c.Refuse(func(r *http.Request) *api.Status {
					if strings.HasSuffix(r.URL.Path, "/finalize") && !held {
						held = true
						c.Update("ns", hold) // between the pass and its last write
					}
					return nil
				})
				require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
				want := []string{putStatus, putFinalize, putFinalize}
				if s.has(SkipsLastReport) {
					want = []string{putFinalize, putFinalize, putStatus}
				}
				assert.Equal(t, want, writes(c.Log()), "the writes of the pass")
				assert.Len(t, c.Existing(t, "ns").Status.Conditions, 5, "a namespace that others hold has its conditions")
			})
		})
	}
}

func (s suite) ReportAboutANamespaceThatCannotBeFinalized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				return Status(403, api.ReasonForbidden, "not you")
			}
			return nil
		})
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		require.True(t, api.IsForbidden(err), "want the server's refusal in the error of the pass, got %v", err)
		assert.ElementsMatch(t, []string{putFinalize, putStatus}, writes(c.Log()))
		assert.Equal(t, api.ConditionFalse, ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Status)
	})
}

// Both writes carry the whole namespace, so a field of a newer API that is missing there is erased.
// That of a condition stays although the pass changes the condition.
func (s suite) WritesKeepUnknownFields(t *testing.T) {
	const unknown = `{"newTop": 1,
		"metadata": {"newMeta": 2, "ownerReferences": [{"uid": "1", "newOwner": 3}],
			"managedFields": [{"newEntry": 4}]},
		"spec": {"newSpec": 5},
		"status": {"newStatus": 6, "conditions": [
			{"type": "NamespaceContentRemaining", "status": "Unknown", "newCondition": 7},
			{"type": "example.com/Mine", "status": "True", "newCondition": 8}]}}`
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		c.Update("ns", func(ns *api.Namespace) {
			newer := &api.Namespace{}
			require.NoError(t, json.Unmarshal([]byte(unknown), newer))
			newer.TypeMeta, newer.Spec.Finalizers, newer.Status.Phase = ns.TypeMeta, ns.Spec.Finalizers, ns.Status.Phase
			newer.Name, newer.UID = ns.Name, ns.UID
			newer.CreationTimestamp, newer.DeletionTimestamp = ns.CreationTimestamp, ns.DeletionTimestamp
			*ns = *newer
		})
		var sent []string
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodPut {
				body, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				r.Body = io.NopCloser(bytes.NewReader(body))
				sent = append(sent, string(body))
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		require.Len(t, sent, 2, "the report and the end of the token")
		fields := []string{"Top", "Meta", "Owner", "Entry", "Spec", "Status", "Condition", "Condition"}
		for _, body := range sent {
			for i, field := range fields {
				assert.Contains(t, body, fmt.Sprintf(`"new%s":%d`, field, i+1), "a write erases an unknown field")
			}
		}
	})
}
