package collect

import (
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

// The first four refusals are reviewed.
func TestWhichRefusalsAreReviewed(t *testing.T) {
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
	require.Len(t, c.evidence.Reviews, maxReviews)
	assert.Equal(t, "d", c.evidence.Reviews[3].Resource)
	assert.Len(t, *requests, maxReviews)
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

// A pod without an address is no endpoint yet. Everything is read in the namespace of the Service,
// whatever else a server answers.
func TestPodsThatStartBehindAService(t *testing.T) {
	client := serving(t, func(r *http.Request) answer {
		items := ``
		assert.Contains(t, r.URL.Path, "/namespaces/a/")
		switch {
		case strings.HasSuffix(r.URL.Path, "/services"):
			items = `{"metadata":{"name":"other"},"spec":{"externalName":"x"}},
			{"metadata":{"name":"guard"},"spec":{"selector":{"b":"2","a":"1"}}}`
		case strings.HasSuffix(r.URL.Path, "/pods") && r.URL.Query().Get("labelSelector") == "a=1,b=2":
			items = `{"metadata":{"creationTimestamp":"2026-01-02T03:05:00Z"},"status":{"phase":"Pending"}},
				{"metadata":{"creationTimestamp":"2026-01-02T03:04:00Z"},"status":{"phase":"Pending"}}, {"status":{"phase":"Failed"}}`
		}
		return answer{body: listOf(items)}
	})
	b := newCollector(client, "shop", Options{}).backend(t.Context(), why.Service{Namespace: "a", Name: "guard"})
	assert.Equal(t, 2, b.Coming)
	assert.Nil(t, b.Failed)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), b.Changed)
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
	require.Equal(t, []string{"named", "aggregated", "converter", "suspected"}, names)
	assert.Equal(t, "it stands for guard.example.com", e.Backends[0].Failed.Message)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), e.Backends[0].Changed)
}
