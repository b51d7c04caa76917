package nsctltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

func (s suite) ConflictsAreRetriedOnTheNewState(t *testing.T, c doomed) {
	conflicts := 0
	c.Before("", "/finalize", func() {
		if conflicts++; conflicts <= 3 {
			c.Update("ns", func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"kubernetes", "example.com/new"} })
		}
	})
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	assert.Equal(t, 4, conflicts, "three conflicts, and the write that succeeds")
	assert.Equal(t, []string{"example.com/new"}, c.Existing(t, "ns").Spec.Finalizers,
		"what was added in the meantime is kept")
}

// Upstream retries forever, without a pause (UPSTREAM: retryOnConflict loops without limit or
// delay).
func (s suite) ConflictRetriesAreBoundedAndBackOff(t *testing.T, c doomed) {
	c.RefuseAll("", "/finalize", Status(409, api.ReasonConflict, "the object has been modified"))
	started, deleter := time.Now(), s.newDeleter(t, c)
	err := deleter.Delete(t.Context(), "ns")
	require.True(t, api.IsConflict(err), "want the conflict in the error of the pass, got %v", err)
	tries := Count(c.Log(), "PUT /api/v1/namespaces/ns/finalize")
	assert.Greater(t, tries, 2)
	assert.Less(t, tries, 12)
	assert.Greater(t, time.Since(started), 300*time.Millisecond, "there are pauses (virtual time)")

	err = deleter.Delete(t.Context(), "ns")
	require.True(t, api.IsConflict(err), "want the conflict in the error of the next pass, got %v", err)
	assert.Equal(t, tries, Count(c.Log(), "PUT /api/v1/namespaces/ns/finalize"),
		"the next pass tries as often as the first")
}

// A namespace that is re-created while a write about the old one is in flight is not written to.
func (s suite) ConflictWithARecreatedNamespaceStops(t *testing.T) {
	for _, write := range []string{"/status", "/finalize"} {
		BubbleRun(t, write, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes", "example.com/other")
			c.Before("", write, sync.OnceFunc(func() { c.AddNamespace("ns", false, "kubernetes") }))
			var changed *nsctl.UIDChangedError
			require.ErrorAs(t, s.newDeleter(t, c).Delete(t.Context(), "ns"), &changed)
			assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
			assert.Equal(t, []string{"kubernetes"}, c.Existing(t, "ns").Spec.Finalizers)
		})
	}
}

func (s suite) NamespaceThatVanishesMeanwhileIsDone(t *testing.T) {
	gone := Status(404, api.ReasonNotFound, "not found")
	for name, first := range map[string]*api.Status{
		"at a write": gone, "after a conflict": Status(409, api.ReasonConflict, "the object has been modified"),
	} {
		BubbleRun(t, name, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			var finalized atomic.Bool
			c.Refuse(func(r *http.Request) *api.Status {
				switch {
				case strings.HasSuffix(r.URL.Path, "/finalize"):
					finalized.Store(true)
					return first
				case finalized.Load() || r.Method == http.MethodPut:
					return gone
				}
				return nil
			})
			assert.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
			assert.True(t, finalized.Load(), "want the pass to finalize the namespace")
		})
	}
}

func (s suite) StatusThatCannotBeWrittenDoesNotStopTheDeletion(t *testing.T, c *Cluster) {
	c.AddNamespace("ns", true, "kubernetes", "example.com/other")
	c.RefuseAll("", "/status", Status(403, api.ReasonForbidden, "no status for you"))
	var failed atomic.Int32
	trace := &nsctl.Trace{ConditionsFailed: func(string, error) { failed.Add(1) }}
	require.NoError(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).
		Delete(t.Context(), "ns"))
	assert.Equal(t, []string{"example.com/other"}, c.Existing(t, "ns").Spec.Finalizers)
	assert.Equal(t, int32(1), failed.Load(), "but the hook is called")
}

// Another replica writes the same report first: what the retry finds says it already.
func (s suite) ReportThatAnotherHasWrittenCountsAsKept(t *testing.T, c *Cluster) {
	c.AddNamespace("ns", true, "kubernetes", "example.com/other")
	overtaken := false
	c.Refuse(func(r *http.Request) *api.Status {
		if overtaken || !strings.HasSuffix(r.URL.Path, "/status") {
			return nil
		}
		overtaken = true
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var report api.Namespace
		assert.NoError(t, json.Unmarshal(body, &report))
		c.Update("ns", func(ns *api.Namespace) { ns.Status.Conditions = report.Status.Conditions })
		return nil
	})
	var told []string
	trace := &nsctl.Trace{
		ConditionsUpdated: func(string, []api.NamespaceCondition) { told = append(told, "updated") },
		ConditionsKept:    func(string, []api.NamespaceCondition) { told = append(told, "kept") },
	}
	require.NoError(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).
		Delete(t.Context(), "ns"))
	assert.True(t, overtaken, "want the pass to report conditions")
	assert.Equal(t, []string{"kept"}, told,
		"want the conditions reported as kept: another client has written them, this one has not")
}

func (s suite) ErrorsOfTheGetAreReturned(t *testing.T, c *Cluster) {
	c.Refuse(func(*http.Request) *api.Status { return Status(403, api.ReasonForbidden, "no") })
	err := s.newDeleter(t, c).Delete(t.Context(), "ns")
	assert.True(t, api.IsForbidden(err), "want the server's refusal in the error of the pass, got %v", err)
}

func (s suite) CancelledPassReportsTheCauseAndWritesNoConditions(t *testing.T, c doomed) {
	ctx, cancel := context.WithCancel(t.Context())
	c.Before(http.MethodDelete, "", cancel)
	trace := &nsctl.Trace{ConditionsFailed: func(string,
		error) {
		t.Error("an interrupted pass tried to write its report")
	}}
	err := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(ctx, "ns")
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
}

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
func (s suite) NoReportAboutAFinalizedNamespace(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "a")
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	want := []string{putStatus, putFinalize}
	if s.has(SkipsLastReport) {
		want = []string{putFinalize}
	}
	assert.Equal(t, want, writes(c.Log()))
	c.AssertGone(t, "ns")
}

// The last watch event must not say that content remains.
func (s suite) ReportedProblemsAreClearedBeforeTheEnd(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
	deleter := s.newDeleter(t, c)
	requireRemaining(t, deleter.Delete(t.Context(), "ns"))
	assert.Equal(t, []string{putStatus}, writes(c.Log()))

	c.Release("configmaps.", "ns", "held")
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	assert.Equal(t, []string{putStatus, putFinalize}, writes(c.Log()))
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.changes[len(c.changes)-1]
	assert.Equal(t, api.WatchDeleted, last.eventType)
	assert.Equal(t, api.ConditionFalse, ConditionOf(last.namespace, api.NamespaceContentRemaining).Status)
}

// A new process reports why the namespace hangs, although there is nothing to write.
func (s suite) ExistingConditionsAreTraced(t *testing.T, c doomed) {
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
}

func (s suite) ReportAboutANamespaceThatOthersHold(t *testing.T) {
	holds := map[string]func(*api.Namespace){
		"a token in the spec": func(ns *api.Namespace) {
			ns.Spec.Finalizers = []string{"kubernetes",
				"example.com/other"}
		},
		"a finalizer of the object": func(ns *api.Namespace) { ns.Finalizers = []string{"example.com/other"} },
	}
	for name, hold := range holds {
		t.Run(name, func(t *testing.T) {
			Bubble(t, func(t *testing.T, c *Cluster) {
				c.AddNamespace("ns", true, "kubernetes")
				c.Update("ns", hold)
				require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
				assert.Equal(t, []string{putStatus, putFinalize}, writes(c.Log()))
				assert.Len(t, c.Existing(t, "ns").Status.Conditions, 5)
			})
			Bubble(t, func(t *testing.T, c *Cluster) {
				c.AddNamespace("ns", true, "kubernetes")
				c.Before("", "/finalize", sync.OnceFunc(func() { c.Update("ns", hold) })) // the last write of the pass
				require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
				want := []string{putStatus, putFinalize, putFinalize}
				if s.has(SkipsLastReport) {
					want = []string{putFinalize, putFinalize, putStatus}
				}
				assert.Equal(t, want, writes(c.Log()), "the writes of the pass")
				assert.Len(t, c.Existing(t, "ns").Status.Conditions, 5,
					"a namespace that others hold has its conditions")
			})
		})
	}
}

func (s suite) ReportAboutANamespaceThatCannotBeFinalized(t *testing.T, c doomed) {
	c.RefuseAll("", "/finalize", Status(403, api.ReasonForbidden, "not you"))
	err := s.newDeleter(t, c).Delete(t.Context(), "ns")
	require.True(t, api.IsForbidden(err), "want the server's refusal in the error of the pass, got %v", err)
	assert.ElementsMatch(t, []string{putFinalize, putStatus}, writes(c.Log()))
	assert.Equal(t, api.ConditionFalse, ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Status)
}

// Both writes carry the whole namespace, so a field of a newer API that is missing there is erased.
// That of a condition stays although the pass changes the condition.
func (s suite) WritesKeepUnknownFields(t *testing.T, c *Cluster) {
	const unknown = `{"newTop": 1, "metadata": {"newMeta": 2}, "spec": {"newSpec": 3}, "status": {"newStatus": 4,
		"conditions": [{"type": "NamespaceContentRemaining", "status": "Unknown", "newCondition": 5}]}}`
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
	for _, body := range sent {
		for i, field := range []string{"Top", "Meta", "Spec", "Status", "Condition"} {
			assert.Contains(t, body, fmt.Sprintf(`"new%s":%d`, field, i+1), "a write erases an unknown field")
		}
	}
}
