package nsctltest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// paging returns a server of the cluster's ConfigMaps, one on each page, whatever the client
// requests. Its tokens may expire.
func paging(c *Cluster, expires bool) odd {
	server := odd{Cluster: c, resource: "configmaps"}
	server.serve = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != http.MethodGet {
			return false
		}
		token := r.URL.Query().Get("continue")
		if token != "" && expires {
			answer(w, Status(410, api.ReasonExpired, "the continue token is too old"))
			return true
		}
		answer(w, c.page("configmaps.", token))
		return true
	}
	return server
}

// The remaining objects of all pages are counted.
func (s suite) RemainingObjectsOfAllPagesAreCounted(t *testing.T, c doomed) {
	for i := range 3 {
		c.Put("configmaps.", "ns", fmt.Sprint("held-", i), WithFinalizers("example.com/hold"))
	}
	requireRemaining(t, s.newDeleter(t, paging(c.Cluster, false)).Delete(t.Context(), "ns"))
	assert.Equal(t, "Some resources are remaining: configmaps. has 3 resource instances",
		ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Message)
}

// A list whose continue token expires is a failure, not an empty list. The next pass lists again.
func (s suite) AListThatExpiresIsAFailure(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "a", WithFinalizers("example.com/hold"))
	c.Put("configmaps.", "ns", "b", WithFinalizers("example.com/hold"))
	err := s.newDeleter(t, paging(c.Cluster, true)).Delete(t.Context(), "ns")
	assert.True(t, api.IsExpired(err), "%v", err)
	assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Status)
}

// Deletions request background propagation: an object must not wait for its dependents, which are
// deleted anyway.
func (s suite) DeletionsRequestBackgroundPropagation(t *testing.T, c doomed) {
	c.Verbs["services."] = []string{"delete", "list"} // one by one
	c.Put("configmaps.", "ns", "a")
	c.Put("services.", "ns", "b")
	var asked atomic.Int32
	c.Refuse(func(r *http.Request) *api.Status {
		if r.Method == http.MethodDelete {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Contains(t, string(body), `"propagationPolicy":"Background"`, r.URL.Path)
			asked.Add(1)
		}
		return nil
	})
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	assert.GreaterOrEqual(t, asked.Load(), int32(2), "a collection and a service")
}

// A report that meets a conflict is written to the new state; the conditions of others stay.
func (s suite) ConflictingReportsAreWrittenOnTheNewState(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
	mine := api.NamespaceCondition{Type: "example.com/Mine", Status: api.ConditionTrue, Reason: "Because"}
	c.Before("", "/status", sync.OnceFunc(func() {
		c.Update("ns", func(ns *api.Namespace) { ns.Status.Conditions = []api.NamespaceCondition{mine} })
	}))
	requireRemaining(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	assert.Equal(t, mine, ConditionOf(c.Existing(t, "ns"), mine.Type),
		"the report removed a condition of another client")
	assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Status,
		"the conflict lost the report")
}

// Servers refuse a request in many ways, whatever the code. The type is not empty, the pass fails,
// the other types are deleted, and the namespace disappears once the refusals end.
func (s suite) EachRefusalOfACollectionIsAFailure(t *testing.T) {
	for _, refusal := range []*api.Status{
		Status(400, api.ReasonBadRequest, "malformed"), Status(401, api.ReasonUnauthorized, "unknown user"),
		Status(403, api.ReasonForbidden, "no"),
		Status(409, api.ReasonConflict, "changed"), Status(410, api.ReasonGone, "gone"),
		Status(410, api.ReasonExpired, "too old"),
		Status(413, api.ReasonRequestEntityTooLarge, "too large"), Status(415, api.ReasonUnsupportedMediaType, "what"),
		Status(422, api.ReasonInvalid, "invalid"),
		Status(429, api.ReasonTooManyRequests, "not so fast"),
		Status(500, api.ReasonInternalError, "failed calling webhook: context deadline exceeded"),
		Status(502, "", "bad gateway"), Status(503, api.ReasonServiceUnavailable, "not now"),
		Status(504, api.ReasonTimeout, "too late"),
	} {
		for _, method := range []string{http.MethodDelete, http.MethodGet} {
			s.refused(t, "secrets.", nil, method, refusal)
		}
	}
	// "Not found" for a type that the server lists proves nothing: the server may not have learnt of
	// the type yet. Upstream finalizes.
	for _, refusal := range []*api.Status{
		Status(404, api.ReasonNotFound, "the server could not find the requested resource"),
		Status(405, api.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource"),
	} {
		s.refused(t, "secrets.", nil, http.MethodGet, refusal)
		s.refused(t, "pods.", nil, http.MethodGet, refusal)
		for _, verbs := range [][]string{nil, {"delete", "deletecollection"}, {"delete", "list"}} {
			s.refused(t, "gadgets.late.example", verbs, "", refusal)
		}
	}
}

// refused asserts that a pass fails for a type whose requests with a method are refused, that the
// condition says so, that the other types are deleted, except behind pods, and that the namespace
// disappears once the refusals end.
func (s suite) refused(t *testing.T, groupResource string, verbs []string, method string, refusal *api.Status) {
	resource, _, _ := strings.Cut(groupResource, ".")
	name := fmt.Sprint(resource, " ", method, " ", refusal.Code, " ", refusal.Reason)
	BubbleRun(t, name, func(t *testing.T, c *Cluster) {
		c.Types["late.example/v1"] = []string{"gadgets"}
		c.Verbs[groupResource] = verbs
		c.AddNamespace("ns", true, "kubernetes")
		c.Put(groupResource, "ns", "held", WithFinalizers("example.com/hold"))
		left := []string{groupResource + "/held"}
		c.Put("configmaps.", "ns", "c")
		if resource == "pods" {
			left = []string{"configmaps./c", "pods./held"}
		}
		c.RefuseAll(method, "/"+resource, refusal)
		deleter := s.newDeleter(t, c)
		requireFailureOf(t, deleter.Delete(t.Context(), "ns"), resource)
		assert.Equal(t, left, c.Left("ns"))
		failure := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure)
		assert.Equal(t, "ContentDeletionFailed", failure.Reason)
		assert.Contains(t, failure.Message, refusal.Message)

		c.Refuse(nil)
		c.Release(groupResource, "ns", "held")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		c.AssertGone(t, "ns")
	})
}

// The answer to a finalize request is lost, and the namespace is re-created before the next pass:
// the new one is left alone.
func (s suite) ALostFinalizeAnswerDoesNotAffectARecreatedNamespace(t *testing.T, c doomed) {
	lost := false
	server := afterwards(c, "", "/finalize", func() {
		lost = true
		c.AddNamespace("ns", false, "kubernetes")
		c.Put("configmaps.", "ns", "precious")
		panic(http.ErrAbortHandler)
	})
	deleter := s.newDeleter(t, server)
	require.Error(t, deleter.Delete(t.Context(), "ns"))
	require.True(t, lost)
	c.Log()
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log())
	assert.Equal(t, []string{"configmaps./precious"}, c.Left("ns"))
	assert.Nil(t, c.Existing(t, "ns").DeletionTimestamp)
}
