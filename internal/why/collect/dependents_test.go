package collect

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
	"orrery/restclient/restclienttest"
)

// The dependents of a namespace are those outside it that block, of each type that can be listed.
// The first list that fails is told, and the others are read.
func TestDependents(t *testing.T) {
	owner := func(uid, blocks string) string {
		return `"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"shop","uid":"` + uid + `","blockOwnerDeletion":` + blocks + `}]`
	}
	answers := map[string]string{
		"/api": `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Current","resources":[
			{"resource":"configmaps","responseKind":{"kind":"ConfigMap"},"scope":"Namespaced","verbs":["list"]},
			{"resource":"bindings","responseKind":{"kind":"Binding"},"scope":"Namespaced","verbs":["create"]},
			{"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","verbs":["list"]},
			{"resource":"secrets","responseKind":{"kind":"Secret"},"scope":"Namespaced","verbs":["list"]}]}]}]}`,
		"/apis": `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}`,
		"configmaps": `{"metadata":{"name":"inside","namespace":"shop",` + owner("u", "true") + `}},{"metadata":{"name":"b","namespace":"other",` + owner("u", "true") + `}},
			{"metadata":{"name":"free","namespace":"other",` + owner("u", "false") + `}},{"metadata":{"name":"older","namespace":"other",` + owner("old", "true") + `}},
			{"metadata":{"name":"a","namespace":"other",` + owner("u", "true") + `}}`,
	}
	server := restclienttest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if answer, ok := answers[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
			_, _ = w.Write([]byte(answer))
			return
		}
		switch resource := path.Base(r.URL.Path); resource {
		case "configmaps", "nodes":
			_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[` + answers[resource] + `]}`))
		case "secrets":
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"secrets is forbidden","reason":"Forbidden","code":403}`))
		default:
			assert.True(t, strings.HasPrefix(resource, "readyz"), resource)
		}
	}))
	c := newCollector(server.Client(), "shop", Options{})
	c.evidence.Namespace = &why.Namespace{UID: "u"}
	c.dependents(t.Context())
	var names []string
	for _, d := range c.evidence.Dependents.Items {
		names = append(names, d.Resource+" "+d.Namespace+"/"+d.Name)
	}
	assert.Equal(t, []string{"configmaps other/a", "configmaps other/b"}, names)
	assert.Equal(t, "list secrets", c.evidence.Dependents.Failed.Right)
}
