package collect

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
	"orrery/restclient/api"
)

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
		"two pages": {answers: []answer{page("next", "a"), page("", "b")}, names: "a b"},
		"a token expires": {answers: []answer{page("next", "a"), gone, page("next", "a"),
			page("", "b")}, names: "a b"},
		"a token expires again": {answers: []answer{page("next", "a"), gone, page("next", "a"), gone},
			code: http.StatusGone},
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
			requests, tokens := 0, 0
			client := serving(t, func(r *http.Request) answer {
				requests++
				if r.URL.Query().Get("continue") == "next" {
					tokens++
				}
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
