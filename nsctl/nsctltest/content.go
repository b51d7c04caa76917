package nsctltest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

func (s suite) ContentIsDeletedAndVerified(t *testing.T, c *Cluster) {
	c.AddNamespace("full", true, "kubernetes")
	c.Put("configmaps.", "full", "a")
	c.Put("configmaps.", "full", "b")
	c.Put("deployments.apps", "full", "web")
	c.Put("configmaps.", "other", "a")
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "full"))

	c.AssertGone(t, "full")
	assert.Equal(t, []string{"configmaps./a"}, c.Left("other"), "other namespaces are left alone")
	requests := c.Log()
	for _, path := range []string{
		"/api/v1/namespaces/full/configmaps", "/apis/apps/v1/namespaces/full/deployments",
	} {
		deleted := slices.Index(requests, "DELETE "+path)
		require.Positive(t, deleted, "%s was not deleted", path)
		assert.Contains(t, requests[deleted:], "GET "+path, "content was found: want a LIST after the DELETE")
	}
	assert.Contains(t, requests, "GET /api/v1/namespaces/full/secrets")
	assert.Equal(t, s.has(LooksFirst), !slices.Contains(requests, "DELETE /api/v1/namespaces/full/secrets"),
		"only a form that looks first knows that there is nothing to delete")
}

// A response without a list says nothing of what is left: the type must be listed after the DELETE.
// Upstream does not look at the response.
func (s suite) AnswerWithoutAListIsVerified(t *testing.T) {
	for _, answer := range []struct{ name, body string }{
		{"a Status", `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
		{"nothing", ""},
		{"text", "deleted"},
		{"an object", "{}"},
		{"an object of the type", `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1"}`},
		{"a first page", `{"kind":"LeaseList","metadata":{"continue":"next"},"items":[]}`},
	} {
		BubbleRun(t, answer.name, func(t *testing.T, c *Cluster) {
			c.Answers = map[string]string{"leases.coordination.k8s.io": answer.body}
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("leases.coordination.k8s.io", "ns", "held", WithFinalizers("example.com/hold"))
			deleter := s.newDeleter(t, c)
			var remaining *nsctl.ResourcesRemainingError
			require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining,
				"the answer does not say that nothing is left: the type must be listed")
			c.Existing(t, "ns")
			c.Release("leases.coordination.k8s.io", "ns", "held")
			require.NoError(t, deleter.Delete(t.Context(), "ns"))
			c.AssertGone(t, "ns")
		})
	}
}

func (s suite) AFailedTypeDoesNotBlockTheOthers(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "a")
	c.Put("secrets.", "ns", "a")
	c.Put("roles.rbac.authorization.k8s.io", "ns", "a")
	c.Refuse(func(r *http.Request) *api.Status {
		if r.Method == http.MethodDelete && (strings.HasSuffix(r.URL.Path, "/secrets") ||
			strings.HasSuffix(r.URL.Path, "/roles")) {
			return Status(403, api.ReasonForbidden, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]+" are forbidden")
		}
		return nil
	})
	err := s.newDeleter(t, c).Delete(t.Context(), "ns")
	require.Error(t, err, "two types failed: Delete must return that, and not go on to finalize")
	require.True(t, api.IsForbidden(err), "the cause is found through the aggregate: %v", err)
	var resource *nsctl.ResourceError
	require.ErrorAs(t, err, &resource, "want a *ResourceError that says what failed")
	assert.Equal(t, []string{"roles.rbac.authorization.k8s.io/a", "secrets./a"}, c.Left("ns"))
	assert.Equal(t, "Failed to delete all resource types, 2 remaining: roles are forbidden, secrets are forbidden",
		ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure).Message,
		"the condition names what failed")
}

// Each type is traced once, with the error that the pass fails with.
func (s suite) EachTypeIsTraced(t *testing.T, c doomed) {
	c.RefuseAll("", "/secrets", Status(403, api.ReasonForbidden, "no"))
	var mu sync.Mutex
	traced := map[string]error{}
	trace := &nsctl.Trace{TypeDeleted: func(_ string, resource api.GroupVersionResource, _ int, err error) {
		mu.Lock()
		defer mu.Unlock()
		assert.NotContains(t, traced, resource.Resource)
		traced[resource.Resource] = err
	}}
	deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Trace = trace })
	require.Error(t, deleter.Delete(t.Context(), "ns"))
	assert.Len(t, traced, 30)
	for resource, err := range traced {
		assert.Equal(t, resource == "secrets", api.IsForbidden(err), resource)
	}
}

// A pass that failed says so, even if it also found content that only needs time: the failure
// decides when the next pass is made.
func (s suite) AFailureOutweighsAnEstimate(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"))
	c.RefuseAll(http.MethodDelete, "/secrets", Status(403, api.ReasonForbidden, "secrets are forbidden"))
	c.Put("secrets.", "ns", "s")
	err := s.newDeleter(t, c).Delete(t.Context(), "ns")
	require.True(t, api.IsForbidden(err), "want the server's refusal in the error of the pass, got %v", err)
}

// Count returns the number of such requests.
func Count(requests []string, wanted string) int {
	n := 0
	for _, request := range requests {
		if request == wanted {
			n++
		}
	}
	return n
}

func (s suite) FinalizersOnContentAreWaitedFor(t *testing.T, c doomed) {
	c.Put("deployments.apps", "ns", "held", WithFinalizers("example.com/hold"))
	deleter := s.newDeleter(t, c)
	remaining := requireRemaining(t, deleter.Delete(t.Context(), "ns"))
	assert.Equal(t, int64(15), remaining.Estimate)
	ns := c.Namespace("ns")
	assert.Equal(t, "Some resources are remaining: deployments.apps has 1 resource instances",
		ConditionOf(ns, api.NamespaceContentRemaining).Message)
	assert.Equal(t, api.ConditionFalse, ConditionOf(ns, api.NamespaceDeletionContentFailure).Status)

	c.Release("deployments.apps", "ns", "held")
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
}

// A type that cannot be listed gets a second collection delete: the answer shows what was left.
func (s suite) UnlistableContentIsFoundInTheDeleteAnswer(t *testing.T, c doomed) {
	c.Verbs["secrets."] = []string{"delete", "deletecollection"}
	c.Put("secrets.", "ns", "held", WithFinalizers("example.com/hold"))
	c.Put("secrets.", "ns", "free")
	deleter := s.newDeleter(t, c)
	requireRemaining(t, deleter.Delete(t.Context(), "ns"))
	c.Existing(t, "ns")
	c.Release("secrets.", "ns", "held")
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
	assert.NotContains(t, c.Log(), "GET /api/v1/namespaces/ns/secrets")
}

func (s suite) TypesWithoutDeleteCollectionAreDeletedOneByOne(t *testing.T, c doomed) {
	c.Verbs["services."] = []string{"delete", "list"}
	c.Put("services.", "ns", "a")
	c.Put("services.", "ns", "b")
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	requests := c.Log()
	assert.NotContains(t, requests, "DELETE /api/v1/namespaces/ns/services", "discovery says that it would be refused")
	assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/services/a")
	assert.Contains(t, requests, "DELETE /api/v1/namespaces/ns/services/b")
	c.AssertGone(t, "ns")
}

func (s suite) CollectionDeleteThatIsRefusedFallsBackToOneByOne(t *testing.T, c doomed) {
	c.Put("services.", "ns", "a")
	c.Put("services.", "ns", "vanishing")
	c.Refuse(func(r *http.Request) *api.Status {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/services") {
			return Status(405, api.ReasonMethodNotAllowed,
				"the server does not allow this method on the requested resource")
		}
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/vanishing") {
			c.mu.Lock()
			delete(c.content["services."]["ns"], "vanishing") // another client was faster
			c.mu.Unlock()
		}
		return nil
	})
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
}

// A server that is upgraded during a pass may refuse a verb that discovery lists. Discovery is then
// out of date: the next pass requests it again, and does not repeat the refused request.
func (s suite) CollectionDeleteThatIsRefusedRefreshesDiscovery(t *testing.T, c doomed) {
	c.Put("services.", "ns", "held", WithFinalizers("example.com/hold"))
	c.Before(http.MethodDelete, "/services", func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.Verbs["services."] = []string{"delete", "list"}
	})
	time.Sleep(5 * time.Second) // the grace period: discovery after it is recent enough for both passes
	deleter := s.newDeleter(t, c)
	requireRemaining(t, deleter.Delete(t.Context(), "ns"))
	require.Contains(t, c.Log(), "DELETE /api/v1/namespaces/ns/services")
	c.Release("services.", "ns", "held")
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	assert.NotContains(t, c.Log(), "DELETE /api/v1/namespaces/ns/services",
		"the second pass repeats a request that was refused")
	c.AssertGone(t, "ns")
}

func (s suite) OneByOneStopsAtAnError(t *testing.T) {
	for _, refusal := range []*api.Status{
		Status(403, api.ReasonForbidden, "denied by policy"),
		Status(409, api.ReasonConflict, "the object has been modified"),
	} {
		BubbleRun(t, string(refusal.Reason), func(t *testing.T, c *Cluster) {
			c.Verbs["services."] = []string{"delete", "list"}
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("services.", "ns", "a")
			c.Put("services.", "ns", "b")
			c.RefuseAll(http.MethodDelete, "/services/a", refusal)
			err := s.newDeleter(t, c).Delete(t.Context(), "ns")
			var resource *nsctl.ResourceError
			require.ErrorAs(t, err, &resource, "want a *ResourceError that says what failed")
			assert.Equal(t, "deleting a", resource.Doing)
			assert.Equal(t, []string{"services./a", "services./b"}, c.Left("ns"))
			assert.Contains(t, ConditionOf(c.Namespace("ns"), api.NamespaceDeletionContentFailure).Message,
				refusal.Message)
		})
	}
}

func (s suite) TypesThatCannotBeListedCountAsEmpty(t *testing.T, c doomed) {
	c.Verbs["leases.coordination.k8s.io"] = []string{"delete"}
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
	for _, request := range c.Log() {
		assert.NotContains(t, request, "/leases")
	}
}
