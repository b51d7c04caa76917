package collect

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient"
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

// No pod starts in a terminating namespace, which that of an owner may be.
func TestTheNamespacesOfOwners(t *testing.T) {
	c, _ := asking(t, headsOf("shop", "ops"))
	held := why.Object{Name: "a", Deleted: time.Now(), Finalizers: []string{"example.com/x"}}
	c.evidence.Namespace = &why.Namespace{Deleted: time.Now()}
	c.suspicions(t.Context())
	assert.Empty(t, c.evidence.Terminating, "no owner is looked for")
	c.evidence.Types = []why.Type{{Version: "v1", Resource: "configmaps", Count: 1, Objects: []why.Object{held}}}
	c.suspicions(t.Context())
	assert.Equal(t, []string{"ops", "shop"}, c.evidence.Terminating)
	c, _ = asking(t, `[]`)
	c.evidence.Namespace = &why.Namespace{Deleted: time.Now()}
	c.evidence.Types = []why.Type{{Version: "v1", Resource: "configmaps", Count: 1, Objects: []why.Object{held}}}
	c.suspicions(t.Context())
	assert.NotNil(t, c.evidence.Unlisted)
}

// The namespace itself is not in a namespace.
func TestTheStampOfTheNamespace(t *testing.T) {
	c, requests := asking(t, listOf())
	c.evidence.Namespace = &why.Namespace{UID: "u", Deleted: time.Now(), Finalizers: []string{"example.com/audit"}}
	c.stamps(t.Context(), c.evidence.HeldNamespace())
	assert.Equal(t, []string{"GET /api/v1/namespaces metadata.name=shop"}, *requests)
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

// expiring returns the client of a server whose continue token expires once: its first page has a,
// and from then on it has b, too.
func expiring(t *testing.T) *restclient.Client {
	expired := false
	const a = `{"metadata":{"namespace":"shop","name":"a","finalizers":["example.com/x"]}}`
	return serving(t, func(r *http.Request) answer {
		page := `{"continue":"next"},"items":[` + a + `]`
		switch {
		case r.URL.Query().Get("continue") != "":
			expired = true
			return answer{code: http.StatusGone, reason: "Expired"}
		case expired:
			page = `{},"items":[` + a + `,{"metadata":{"namespace":"shop","name":"b"}}]`
		}
		return answer{body: `{"kind":"List","apiVersion":"v1","metadata":` + page + `}`}
	})
}

// A list whose continue token expires starts over: each namespace and each object counts once.
func TestExpiredLists(t *testing.T) {
	names, err := newCollector(expiring(t), "", Options{}).inDeletionNow(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, names)
	for _, gvr := range []api.GroupVersionResource{api.PodsResource, {Version: "v1", Resource: "configmaps"}} {
		c := newCollector(expiring(t), "shop", Options{})
		c.evidence.Namespace = &why.Namespace{}
		listed := read(t.Context(), gvr, maxPages, c)
		require.Len(t, listed, 1)
		assert.Nil(t, listed[0].t.Failed)
		assert.Equal(t, 2, listed[0].t.Count, gvr)
		assert.Equal(t, map[string]int{"example.com/x": 1}, listed[0].t.Finalizers)
		assert.Len(t, listed[0].t.Objects, 2)
		if gvr == api.PodsResource {
			assert.Len(t, listed[0].pods, 2)
		}
	}
}
