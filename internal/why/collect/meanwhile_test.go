package collect

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

const terminatingShop = `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop","uid":"u","resourceVersion":"7","deletionTimestamp":"2026-01-02T03:04:05Z"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Terminating"}}`

func writeStatus(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
}

// A namespace that may be listed and not read is reported.
func TestAllWithoutTheRightToGet(t *testing.T) {
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"shop"}}]}`))
			return
		}
		writeStatus(w, 403, "Forbidden", `namespaces "shop" is forbidden: User "u" cannot get resource "namespaces"`)
	}))
	all, err := CollectAll(t.Context(), server.Client(), Options{Interval: time.Millisecond})
	require.NoError(t, err)
	assert.NotZero(t, why.JudgeAll(all).ExitCode, "%d reports", len(all))
}

// A proxy that answers a Status (Teleport: `kubernetes cluster "x" not found`) to the second GET:
// the namespace is not removed.
func TestASecond404WithAStatusOfAProxy(t *testing.T) {
	gets := 0
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces/shop" {
			if gets++; gets == 1 {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(terminatingShop))
				return
			}
		}
		writeStatus(w, 404, "NotFound", `kubernetes cluster "prod" not found`)
	}))
	e, err := Collect(t.Context(), server.Client(), "shop", Options{Interval: time.Millisecond})
	require.NoError(t, err)
	report := why.Judge(e)
	assert.NotEqual(t, why.Absent, report.Verdict, report.Sentence)
}

// The Lease of kube-controller-manager is written between the samples; its clock is behind.
func TestLeaseOfTheManagerMoves(t *testing.T) {
	reads := 0
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/api/v1/namespaces/shop":
			_, _ = w.Write([]byte(terminatingShop))
		case strings.HasSuffix(r.URL.Path, "/namespaces/kube-system/leases"):
			reads++
			_, _ = fmt.Fprintf(w, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{},"items":[{"metadata":{"namespace":"kube-system","name":"kube-controller-manager","resourceVersion":"%d"},
				"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"renewTime":%q}},
				{"metadata":{"namespace":"kube-system","name":"old"},"spec":{"holderIdentity":"b","renewTime":"2026-01-02T03:04:05Z"}}]}`, reads, time.Now().Add(-90*time.Second+time.Duration(reads)*2*time.Second).UTC().Format(time.RFC3339))
		default:
			_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
		}
	}))
	e, err := Collect(t.Context(), server.Client(), "shop", Options{Interval: time.Millisecond})
	require.NoError(t, err)
	require.Len(t, e.Leases.Items, 2)
	assert.False(t, e.Leases.Items[0].Expired(e.At), "it was renewed between the samples")
	assert.True(t, e.Leases.Items[1].Expired(e.At), "it was not")
}

// Many converters push out the Service of an APIService, whose state C01 depends on.
func TestManyConvertersBeforeAnAPIService(t *testing.T) {
	c, _ := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`)
	e := &c.evidence
	e.Namespace = &why.Namespace{Conditions: []api.NamespaceCondition{{Type: api.NamespaceDeletionContentFailure, Status: api.ConditionTrue, Message: "x"}}}
	for i := range maxBackends {
		e.Definitions.Items = append(e.Definitions.Items, why.Definition{Converter: &why.Service{Namespace: "a", Name: fmt.Sprint("converter-", i)}})
	}
	e.APIServices.Items = []why.APIService{{GroupVersion: "g.io/v1", Service: &why.Service{Namespace: "kube-system", Name: "metrics-server"}, Available: "False"}}
	e.Discovery.Failed = map[string]string{"g.io/v1": "stale"}
	c.backends(t.Context())
	var names []string
	for _, b := range e.Backends {
		names = append(names, b.Name)
	}
	assert.Contains(t, names, "metrics-server")
}

// What may have changed is read again after the interval, for each of several namespaces.
func TestControlIsReadAgain(t *testing.T) {
	var leases atomic.Int32
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name, single := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/")
		switch {
		case r.URL.Path == "/api/v1/namespaces":
			_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`))
		case single && len(name) == 1:
			_, _ = w.Write([]byte(strings.Replace(terminatingShop, `"shop"`, `"`+name+`"`, 1)))
		case strings.HasSuffix(r.URL.Path, "/namespaces/kube-system/leases"):
			_, _ = fmt.Fprintf(w, `{"kind":"LeaseList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"namespace":"kube-system","name":"l%d"}}]}`, leases.Add(1))
		default:
			_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
		}
	}))
	all, err := CollectAll(t.Context(), server.Client(), Options{Interval: time.Millisecond})
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, e := range all {
		require.Len(t, e.Leases.Items, 1)
		assert.Equal(t, "l2", e.Leases.Items[0].Name, e.Name)
	}
}

// Discovery is read again if the condition DiscoveryFailure came with the second sample.
func TestDiscoveryIsReadAgain(t *testing.T) {
	var gets, discoveries atomic.Int32
	failed := strings.Replace(terminatingShop, `"status":{`, `"status":{"conditions":[{"type":"NamespaceDeletionDiscoveryFailure","status":"True","message":"x"}],`, 1)
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1/namespaces/shop":
			_, _ = w.Write([]byte(map[bool]string{true: terminatingShop, false: failed}[gets.Add(1) == 1]))
		case "/apis":
			discoveries.Add(1)
			_, _ = w.Write([]byte(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
		default:
			_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
		}
	}))
	_, err := Collect(t.Context(), server.Client(), "shop", Options{Interval: time.Millisecond})
	require.NoError(t, err)
	assert.EqualValues(t, 2, discoveries.Load())
}

// Who else is terminating, and when a controller wrote there, is read if a controller may be slow
// or off.
func TestOtherNamespacesAreRead(t *testing.T) {
	const others = "GET /api/v1/namespaces status.phase=Terminating"
	condition := []api.NamespaceCondition{{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue}}
	for name, test := range map[string]struct {
		conditions []api.NamespaceCondition
		manager    string
		reads      int // with whole objects and, for advice, with names
	}{
		"no conditions yet":    {nil, "*", 2},
		"it is switched off":   {condition, "*,-namespace", 1},
		"a controller at work": {condition, "*", 0},
	} {
		c, requests := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`)
		c.evidence.At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		c.evidence.Namespace = &why.Namespace{Deleted: c.evidence.At.Add(-10 * time.Minute), Conditions: test.conditions}
		c.evidence.Types = []why.Type{{Version: "v1", Resource: "configmaps", Count: 1}}
		c.evidence.Managers.Items = []why.Manager{{Ready: true, Controllers: test.manager}}
		c.suspicions(t.Context())
		count := 0
		for _, r := range *requests {
			if r == others {
				count++
			}
		}
		assert.Equal(t, test.reads, count, name)
	}
}

// The endpoints of a server that does not delete what it promises to are read.
func TestThePromisingServerIsRead(t *testing.T) {
	c, requests := asking(t, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`)
	c.evidence.Namespace = &why.Namespace{Conditions: []api.NamespaceCondition{{
		Type: api.NamespaceDeletionContentFailure, Status: api.ConditionTrue,
		Message: "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: agg.io/v1, Resource=things",
	}}}
	c.evidence.Types = []why.Type{{Group: "agg.io", Version: "v1", Resource: "things", Count: 1}}
	c.evidence.APIServices.Items = []why.APIService{{GroupVersion: "agg.io/v1", Service: &why.Service{Namespace: "x", Name: "y"}, Available: "True"}}
	c.suspicions(t.Context())
	assert.Contains(t, *requests, "GET /api/v1/namespaces/x/services metadata.name=y")
}

// A namespace that may not be read is reported beside one that may; one that is gone is not.
func TestAllWithOneThatMayNotBeRead(t *testing.T) {
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/namespaces":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"gone"}},{"metadata":{"name":"secret"}},{"metadata":{"name":"shop"}}]}`))
		case "/api/v1/namespaces/secret":
			writeStatus(w, 403, "Forbidden", "forbidden")
		case "/api/v1/namespaces/gone":
			writeStatus(w, 404, "NotFound", "not found")
		case "/api/v1/namespaces/shop":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(terminatingShop))
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
		}
	}))
	all, err := CollectAll(t.Context(), server.Client(), Options{Interval: time.Millisecond})
	require.NoError(t, err)
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	assert.Equal(t, []string{"secret", "shop"}, names)
}

// Only the API server's own Status about the namespace says that it is gone.
func TestWhoIsAskedAboutANamespace(t *testing.T) {
	about := func(kind, name string, causes ...api.StatusCause) *api.StatusError {
		return api.NewStatusError(api.Status{Code: 404, Details: &api.StatusDetails{Kind: kind, Name: name, Causes: causes}})
	}
	assert.True(t, isAbout(about("namespaces", "shop"), "shop"))
	assert.False(t, isAbout(about("clusters", "shop"), "shop"))
	assert.False(t, isAbout(about("namespaces", "other"), "shop"))
	assert.False(t, isAbout(about("namespaces", "shop", api.StatusCause{Type: api.CauseUnexpectedServerResponse}), "shop"))
	assert.False(t, isAbout(api.NewStatusError(api.Status{Code: 404}), "shop"))
}
