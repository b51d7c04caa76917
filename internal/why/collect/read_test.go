package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// Any server may answer 404. One that is no API server cannot list namespaces either; one that
// forbids that is an API server.
func TestANamespaceThatIsNotThere(t *testing.T) {
	for name, test := range map[string]struct {
		list     answer
		fails    bool
		unlisted bool
	}{
		"a web server":     {answer{code: 404, page: "404 page not found"}, true, false},
		"a page":           {answer{page: "<html>"}, true, false},
		"no right to list": {answer{code: 403, reason: "Forbidden"}, false, true},
		"none":             {answer{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			client := serving(t, func(r *http.Request) answer {
				if r.URL.Path == "/api/v1/namespaces" {
					return test.list
				}
				return answer{code: 404, page: "404 page not found"}
			})
			evidence, err := Collect(t.Context(), client, "shop", Options{})
			assert.Equal(t, test.fails, err != nil, err)
			assert.Equal(t, test.unlisted, evidence.Unlisted != nil)
		})
	}
}

// An owner is asked about for the held object, because a role may name single ones.
func TestWhatOwnersAreAskedAbout(t *testing.T) {
	var asked []any
	client := serving(t, func(r *http.Request) answer {
		var review struct {
			Spec struct {
				Groups             []string       `json:"groups"`
				ResourceAttributes map[string]any `json:"resourceAttributes"`
			} `json:"spec"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&review))
		assert.Equal(t, []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:keda"},
			review.Spec.Groups)
		asked = append(asked, review.Spec.ResourceAttributes)
		return answer{body: `{"status":{"allowed":false}}`}
	})
	c := newCollector(client, "shop", Options{})
	e := &c.evidence
	held := why.Object{Name: "a", Deleted: time.Now(), Finalizers: []string{"finalizer.keda.sh"}}
	e.Types = []why.Type{{Group: "keda.sh", Version: "v1", Resource: "scaledobjects", Count: 1,
		Objects: []why.Object{held}}}
	e.Workloads.Items = []why.Workload{{Kind: "deployment", Namespace: "keda", Name: "keda-operator", Ready: 1}}
	c.ownersRights(t.Context())
	about := func(verb string) map[string]any {
		return map[string]any{"namespace": "shop", "verb": verb, "group": "keda.sh", "resource": "scaledobjects",
			"name": "a"}
	}
	assert.Equal(t, []any{about("update"), about("patch")}, asked)
	assert.Equal(t, "a", e.Reviews[0].Name)
}

// The endpoints of a Service may be in several slices, of which the last has none. An endpoint that
// does not say whether it is ready is ready. One that is not ready may become so, but for that of a
// pod that ends.
func TestEndpoints(t *testing.T) {
	c, _ := asking(t, listOf(`{"metadata":{"name":"guard"},"endpoints":[
		{"addresses":["192.0.2.1"]},{"conditions":{"ready":true}},
		{"conditions":{"ready":false}},{"conditions":{"ready":false,"terminating":true}}]}`,
		`{"metadata":{"name":"guard-2"}}`))
	b := c.backend(t.Context(), why.Service{Namespace: "a", Name: "guard"})
	assert.Equal(t, []int{2, 1}, []int{b.Ready, b.Coming})
}

// asking returns a collector for the namespace shop, and the requests that a server got, which
// gives one answer to all of them.
func asking(t *testing.T, body string) (c *collector, requests *[]string) {
	requests = &[]string{}
	var mu sync.Mutex
	client := serving(t, func(r *http.Request) answer {
		mu.Lock()
		defer mu.Unlock()
		*requests = append(*requests, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("fieldSelector"))
		return answer{body: body}
	})
	return newCollector(client, "shop", Options{}), requests
}

// Of many refusals the first are reviewed.
func TestReviewsHaveALimit(t *testing.T) {
	c, requests := asking(t, `{"status":{"allowed":false}}`)
	var text []string
	for _, what := range []string{"a", "b", "c", "d", "e"} {
		text = append(text, what+` is forbidden: User "u" cannot list resource "`+what+
			`" in API group "" in the namespace "shop"`)
	}
	c.evidence.Namespace = &why.Namespace{Conditions: []api.NamespaceCondition{{
		Type: api.NamespaceDeletionContentFailure, Status: api.ConditionTrue, Message: strings.Join(text, ", "),
	}}}
	c.reviews(t.Context())
	require.Len(t, *requests, maxReviews)
	assert.Equal(t, "d", c.evidence.Reviews[maxReviews-1].Resource)
}

// A discovery of several requests is left out if they would exceed the limit.
func TestTheLimitHoldsForDiscovery(t *testing.T) {
	c, requests := asking(t, `{}`)
	c.evidence.Namespace, c.options.MaxRequests = &why.Namespace{}, discoveryRequests-1
	content(t.Context(), c)
	c.finish()
	assert.Empty(t, *requests)
	assert.Zero(t, c.evidence.Requests)
	assert.Equal(t, errTooMany.Error(), c.evidence.Incomplete)
	assert.Equal(t, errTooMany.Error(), c.evidence.Discovery.Refused.Message)
}

// The Services are read that a finding may depend on. One of type ExternalName has its host, and
// endpoints the time of their last change.
func TestWhichBackendsAreRead(t *testing.T) {
	client := serving(t, func(r *http.Request) answer {
		return answer{body: listOf(`{"metadata":{"name":"named",
			"managedFields":[{"manager":"m","time":"2026-01-02T03:05:00Z"}]},
			"spec":{"externalName":"guard.example.com"}}`)}
	})
	c := newCollector(client, "shop", Options{})
	e := &c.evidence
	held := why.Object{Name: "a", Deleted: time.Now(), Finalizers: []string{"example.com/x"}}
	e.Types = []why.Type{{Version: "v1", Resource: "configmaps", Count: 1, Objects: []why.Object{held}}}
	e.Namespace = &why.Namespace{Conditions: []api.NamespaceCondition{{
		Type: api.NamespaceDeletionContentFailure, Status: api.ConditionTrue,
		Message: `failed calling webhook "named": no`,
	}}}
	at := func(name string) why.ClientConfig {
		return why.ClientConfig{Service: &why.Service{Namespace: "a", Name: name}}
	}
	updates := []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{""}, Resources: []string{"*"}}}
	e.Webhooks.Items = []why.Webhook{{Name: "suspected", ClientConfig: at("suspected"), Rules: updates},
		{Name: "named", ClientConfig: at("named")}, {Name: "other", ClientConfig: at("other")}}
	e.Definitions.Items = []why.Definition{{Converter: at("converter")}}
	e.APIServices.Items = []why.APIService{
		{Service: at("aggregated").Service, GroupVersion: "g.io/v1"},
		{Service: at("available").Service, Available: "True"}, {Service: at("discovered").Service},
	}
	e.Discovery.Failed = map[string]string{"g.io/v1": "stale"}
	c.backends(t.Context())
	var names []string
	for _, b := range e.Backends {
		names = append(names, b.Name)
	}
	require.Equal(t, []string{"suspected", "named", "aggregated", "converter"}, names)
	assert.Equal(t, "it stands for guard.example.com", e.Backends[1].Failed.Message)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), e.Backends[1].Changed)
}

// A list has every object once, or none and the reason: what is incomplete proves nothing.
func TestList(t *testing.T) {
	page := func(next, name string) answer {
		return answer{body: `{"kind":"List","apiVersion":"v1","metadata":{"continue":"` + next +
			`"},"items":[{"metadata":{"name":"` + name + `"}}]}`}
	}
	gone := answer{code: http.StatusGone, reason: "Expired"}
	busy := answer{code: http.StatusTooManyRequests, reason: "TooManyRequests"}
	many := make([]answer, clusterPages)
	for i := range many {
		many[i] = page("next", fmt.Sprint(i))
	}
	forbidden := answer{code: http.StatusForbidden, reason: "Forbidden"}
	for name, test := range map[string]struct {
		answers []answer
		limit   int
		names   string
		code    int
		right   string
		message string
	}{
		"two pages":       {answers: []answer{page("next", "a"), page("", "b")}, names: "a b"},
		"a token expires": {answers: []answer{page("next", "a"), gone}, code: http.StatusGone},
		"refused": {answers: []answer{forbidden}, code: http.StatusForbidden,
			right: "list nodes"},
		"refused after a page": {answers: []answer{page("next", "a"), forbidden},
			code: http.StatusForbidden, right: "list nodes"},
		"it is not there": {answers: []answer{{code: http.StatusNotFound, reason: "NotFound"}},
			code: http.StatusNotFound},
		"as many pages as are read": {answers: append(many[1:clusterPages:clusterPages], page("", "z")),
			names: "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 z"},
		"a page more": {answers: append(many[:clusterPages:clusterPages], page("", "z")),
			message: errTooLong.Error()},
		"the server is busy":    {answers: []answer{busy, page("", "a")}, names: "a"},
		"the server stays busy": {answers: []answer{busy, busy}, code: http.StatusTooManyRequests},
		"as many requests as are allowed": {answers: []answer{page("next", "a"), page("", "b")}, limit: 2,
			names: "a b"},
		"a request more than are allowed": {answers: []answer{page("next", "a"), page("", "b")}, limit: 1,
			message: errTooMany.Error()},
		"an answer that is no list at all": {answers: []answer{{page: "<html>"}}, message: "cannot be understood"},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			client := serving(t, func(r *http.Request) answer {
				requests++
				return test.answers[requests-1]
			})
			c := newCollector(client, "shop", Options{MaxRequests: test.limit})
			got := list(t.Context(), c, query{gvr: nodesResource}, nodeOf)
			var names []string
			for _, n := range got.Items {
				names = append(names, n.Name)
			}
			assert.Equal(t, test.names, strings.Join(names, " "))
			assert.Equal(t, test.names != "", got.Known())
			assert.Equal(t, "GET /api/v1/nodes?limit=500", got.Request)
			if test.names == "" {
				assert.Equal(t, []any{test.code, test.right}, []any{got.Failed.Code, got.Failed.Right})
				assert.Contains(t, got.Failed.Message, test.message)
			}
		})
	}
}

// With several namespaces a list is read once for each way to read it.
func TestAnswersAreKept(t *testing.T) {
	single := query{gvr: leasesResource, fields: "metadata.name=a"}
	for many, want := range map[bool]int{true: 3, false: 6} {
		c, requests := asking(t, headsOf("a"))
		c.many = many
		for range 2 {
			assert.Len(t, list(t.Context(), c, query{gvr: definitionsResource}, headOfDefinition).Items, 1)
			assert.Len(t, list(t.Context(), c, query{gvr: definitionsResource}, definitionOf).Items, 1)
			assert.Len(t, list(t.Context(), c, single, leaseOf).Items, 1)
		}
		assert.Len(t, *requests, want, many)
	}
}

// Of several lists the answer has the request of the first, all items, and the first failure.
func TestJoined(t *testing.T) {
	refused := &why.Failure{Message: "x"}
	answers := map[string]why.Answer[int]{
		"a": {Request: "a", Items: []int{1}}, "b": {Request: "b", Failed: refused}, "c": {Items: []int{2}},
	}
	of := func(resource string) why.Answer[int] { return answers[resource] }
	assert.Equal(t, why.Answer[int]{Request: "a", Items: []int{1, 2}, Failed: refused}, joined(of, "a", "b", "c"))
	assert.NotContains(t, failure("", "", errors.New("password=hunter2")).Message, "hunter2",
		"saved evidence has no secret of an error")
}

// A type of which more pages are left than are read has the server's count, or says that there are
// more. Only the second sample is partial.
func TestATypeThatIsNotReadToItsEnd(t *testing.T) {
	for _, test := range []struct {
		metadata string
		count    int
		more     bool
	}{{`{"continue":"x","remainingItemCount":7}`, 8, false}, {`{"continue":"x"}`, 1, true}, {`{}`, 1, false}} {
		c, requests := asking(t, `{"kind":"List","apiVersion":"v1","metadata":`+test.metadata+`,"items":[
			{"metadata":{"namespace":"shop","name":"a"}}, {"metadata":{"namespace":"elsewhere","name":"b"}}]}`)
		c.evidence.Namespace = &why.Namespace{}
		got := read(t.Context(), api.GroupVersionResource{Version: "v1", Resource: "configmaps"}, 1, c)[0].t
		assert.Equal(t, []any{test.count, test.more, test.metadata != `{}`}, []any{got.Count, got.More, got.Partial})
		assert.Nil(t, got.Failed)
		assert.Equal(t, []string{"GET /api/v1/namespaces/shop/configmaps "}, *requests)
	}
}
