package nsctltest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

func (s suite) ConflictsAreRetriedOnTheNewState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		conflicts := 0
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") && conflicts < 3 {
				conflicts++
				c.Update("ns", func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"kubernetes", "example.com/new"} })
			}
			return nil
		})
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		assert.Equal(t, 3, conflicts)
		assert.Equal(t, []string{"example.com/new"}, c.Existing(t, "ns").Spec.Finalizers, "what was added in the meantime is kept")
	})
}

// Upstream retries forever, without a pause (UPSTREAM: retryOnConflict loops without limit or
// delay).
func (s suite) ConflictRetriesAreBoundedAndBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				return Status(409, api.ReasonConflict, "the object has been modified")
			}
			return nil
		})
		started, deleter := time.Now(), s.newDeleter(t, c)
		err := deleter.Delete(t.Context(), "ns")
		require.True(t, api.IsConflict(err), "want the conflict in the error of the pass, got %v", err)
		tries := Count(c.Log(), "PUT /api/v1/namespaces/ns/finalize")
		assert.Greater(t, tries, 2)
		assert.Less(t, tries, 12)
		assert.Greater(t, time.Since(started), 300*time.Millisecond, "there are pauses (virtual time)")

		err = deleter.Delete(t.Context(), "ns")
		require.True(t, api.IsConflict(err), "want the conflict in the error of the next pass, got %v", err)
		assert.Equal(t, tries, Count(c.Log(), "PUT /api/v1/namespaces/ns/finalize"), "the next pass tries as often as the first")
	})
}

func (s suite) ConflictWithARecreatedNamespaceStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/finalize") {
				c.AddNamespace("ns", true, "kubernetes") // the same name, another UID
			}
			return nil
		})
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		var changed *nsctl.UIDChangedError
		require.ErrorAs(t, err, &changed)
		assert.Equal(t, []string{"kubernetes"}, c.Existing(t, "ns").Spec.Finalizers)
	})
}

func (s suite) StatusThatCannotBeWrittenDoesNotStopTheDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes", "example.com/other")
		c.Refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/status") {
				return Status(403, api.ReasonForbidden, "no status for you")
			}
			return nil
		})
		var failed atomic.Int32
		trace := &nsctl.Trace{ConditionsFailed: func(string, error) { failed.Add(1) }}
		require.NoError(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(t.Context(), "ns"))
		assert.Equal(t, []string{"example.com/other"}, c.Existing(t, "ns").Spec.Finalizers)
		assert.Equal(t, int32(1), failed.Load(), "but the hook is called")
	})
}

// Another replica writes the same report first: what the retry finds says it already.
func (s suite) ReportThatAnotherHasWrittenCountsAsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
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
		require.NoError(t, s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(t.Context(), "ns"))
		assert.True(t, overtaken, "want the pass to report conditions")
		assert.Equal(t, []string{"kept"}, told, "want the conditions reported as kept: another client has written them, this one has not")
	})
}

func (s suite) NamespaceThatVanishesMeanwhileIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodPut {
				return Status(404, api.ReasonNotFound, "not found")
			}
			return nil
		})
		assert.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	})
}

func (s suite) ErrorsOfTheGetAreReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Refuse(func(*http.Request) *api.Status { return Status(403, api.ReasonForbidden, "no") })
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		assert.True(t, api.IsForbidden(err), "want the server's refusal in the error of the pass, got %v", err)
	})
}

func (s suite) CancelledPassReportsTheCauseAndWritesNoConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		ctx, cancel := context.WithCancel(t.Context())
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete {
				cancel()
			}
			return nil
		})
		trace := &nsctl.Trace{ConditionsFailed: func(string, error) { t.Error("an interrupted pass tried to write its report") }}
		err := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace }).Delete(ctx, "ns")
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
	})
}
