package collect

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

const zzNamespace = `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop","uid":"u","resourceVersion":"7","deletionTimestamp":"2026-01-02T03:04:05Z"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Terminating"}}`

func zzStatus(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
}

// A user may list namespaces and not get them: -A must not say that none is terminating (exit 0).
func TestZZAllWithoutTheRightToGet(t *testing.T) {
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"shop"}}]}`))
			return
		}
		zzStatus(w, 403, "Forbidden", `namespaces "shop" is forbidden: User "u" cannot get resource "namespaces"`)
	}))
	all, err := CollectAll(t.Context(), server.Client(), Options{Interval: time.Millisecond})
	require.NoError(t, err)
	assert.NotZero(t, why.JudgeAll(all).ExitCode, "%d reports", len(all))
}

// A proxy that answers a Status (Teleport: `kubernetes cluster "x" not found`) to the second GET:
// the namespace is not removed.
func TestZZASecond404WithAStatusOfAProxy(t *testing.T) {
	gets := 0
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/namespaces/shop" {
			if gets++; gets == 1 {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(zzNamespace))
				return
			}
		}
		zzStatus(w, 404, "NotFound", `kubernetes cluster "prod" not found`)
	}))
	e, err := Collect(t.Context(), server.Client(), "shop", Options{Interval: time.Millisecond})
	require.NoError(t, err)
	report := why.Judge(e)
	assert.NotEqual(t, why.Absent, report.Verdict, report.Sentence)
}

// The Lease of kube-controller-manager is written between the samples; its clock is behind.
func TestZZLeaseOfTheManagerMoves(t *testing.T) {
	reads := 0
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/api/v1/namespaces/shop":
			_, _ = w.Write([]byte(zzNamespace))
		case strings.HasSuffix(r.URL.Path, "/namespaces/kube-system/leases"):
			reads++
			_, _ = fmt.Fprintf(w, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{},"items":[{"metadata":{"namespace":"kube-system","name":"kube-controller-manager","resourceVersion":"%d"},
				"spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"renewTime":%q}}]}`, reads, time.Now().Add(-90*time.Second+time.Duration(reads)*2*time.Second).UTC().Format(time.RFC3339))
		default:
			_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
		}
	}))
	e, err := Collect(t.Context(), server.Client(), "shop", Options{Interval: time.Millisecond})
	require.NoError(t, err)
	require.Len(t, e.Leases.Items, 1)
	assert.False(t, e.Leases.Items[0].Expired(e.At), "it was renewed between the samples")
}

// Many converters push out the Service of an APIService, whose state C01 depends on.
func TestZZManyConvertersBeforeAnAPIService(t *testing.T) {
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
