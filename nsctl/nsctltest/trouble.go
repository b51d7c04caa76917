package nsctltest

import (
	"context"
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
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// paging returns a server of the cluster's ConfigMaps, one on each page, whatever the client
// requests, and slowly. The first tokens expire. asked is the number of requests for a page.
func paging(c *Cluster, expired int) (server odd, asked *atomic.Int32) {
	server, asked = odd{Cluster: c, resource: "configmaps"}, new(atomic.Int32)
	server.serve = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != http.MethodGet {
			return false
		}
		asked.Add(1)
		time.Sleep(time.Second)
		token := r.URL.Query().Get("continue")
		if token != "" && expired > 0 {
			expired--
			answer(w, Status(410, api.ReasonExpired, "the continue token is too old"))
			return true
		}
		answer(w, c.page("configmaps.", token))
		return true
	}
	return server, asked
}

// The remaining objects of all pages are counted. A list whose token expires is restarted, and the
// objects of its first pages are not counted twice.
func (s suite) RemainingObjectsOfAllPagesAreCounted(t *testing.T) {
	for name, expired := range map[string]int{"pages": 0, "a token that expires": 1} {
		BubbleRun(t, name, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			for i := range 3 {
				c.Put("configmaps.", "ns", fmt.Sprint("held-", i), WithFinalizers("example.com/hold"))
			}
			server, _ := paging(c, expired)
			requireRemaining(t, s.newDeleter(t, server).Delete(t.Context(), "ns"))
			assert.Equal(t, "Some resources are remaining: configmaps. has 3 resource instances",
				ConditionOf(c.Existing(t, "ns"), api.NamespaceContentRemaining).Message)
		})
	}
}

// Deletions request background propagation: an object must not wait for its dependents, which are
// deleted anyway.
func (s suite) DeletionsRequestBackgroundPropagation(t *testing.T, c doomed) {
	c.Verbs["services."] = []string{"delete", "list"} // one by one
	c.Put("configmaps.", "ns", "a")
	c.Put("services.", "ns", "b")
	var mu sync.Mutex
	asked := 0
	c.Refuse(func(r *http.Request) *api.Status {
		if r.Method == http.MethodDelete {
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Contains(t, string(body), `"propagationPolicy":"Background"`, r.URL.Path)
			mu.Lock()
			defer mu.Unlock()
			asked++
		}
		return nil
	})
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	want := 30 // 29 collections and one service
	if s.has(LooksFirst) {
		want = 2 // ConfigMaps and one service
	}
	assert.Equal(t, want, asked)
}

// A server that sends unrequested pages and forgets their tokens cannot be listed. That is a
// failure, not an empty list, and no reason to retry without end.
func (s suite) AListThatExpiresAgainAndAgainIsAFailure(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "a", WithFinalizers("example.com/hold"))
	c.Put("configmaps.", "ns", "b", WithFinalizers("example.com/hold"))
	server, asked := paging(c.Cluster, 1000)
	// of virtual time: an endless loop of requests takes long
	ctx, giveUp := context.WithTimeout(t.Context(), time.Minute)
	defer giveUp()
	err := s.newDeleter(t, server).Delete(ctx, "ns")
	assert.True(t, api.IsExpired(err), "%v", err)
	assert.Less(t, asked.Load(), int32(10))
	assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Status)
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

// If the server rejects a status, because of its size or for another reason, the deletion
// continues.
func (s suite) AReportThatIsRefusedDoesNotHoldTheNamespace(t *testing.T) {
	for _, refusal := range []*api.Status{
		Status(413, api.ReasonRequestEntityTooLarge, "too large"), Status(409, api.ReasonConflict, "forever"),
		Status(500, api.ReasonInternalError, "etcdserver: request is too large"),
	} {
		Bubble(t, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
			c.RefuseAll("", "/status", refusal)
			StartController(t, c, s.New, nil)
			time.Sleep(time.Minute)
			c.Existing(t, "ns")
			c.Release("configmaps.", "ns", "held")
			time.Sleep(time.Minute)
			assert.Nil(t, c.Namespace("ns"), refusal.Message)
		})
	}
}

// If a webhook is briefly down, the pass waits as long as the server asks, if that is short. It
// does not occupy a worker for an hour.
func (s suite) RetryAfter(t *testing.T) {
	for seconds, passes := range map[int]int{2: 1, 3600: 2} {
		Bubble(t, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("configmaps.", "ns", "a")
			refused := false
			server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps") && !refused {
					refused = true
					w.Header().Set("Retry-After", fmt.Sprint(seconds))
					answer(w, Status(500, api.ReasonInternalError, "failed calling webhook: context deadline exceeded"))
					return
				}
				c.ServeHTTP(w, r)
			}))
			deleter := deleterOf(server.Client(func(config *restclient.Config) { config.MaxRetryAfter = 10 * time.Second }), s.New)
			started := time.Now()
			for pass := 1; pass < passes; pass++ {
				var resource *nsctl.ResourceError
				require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &resource,
					"want a *ResourceError that says what failed")
				c.Existing(t, "ns")
			}
			require.NoError(t, deleter.Delete(t.Context(), "ns"))
			c.AssertGone(t, "ns")
			assert.Less(t, time.Since(started), 10*time.Second, "of virtual time")
		})
	}
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
