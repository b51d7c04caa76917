package requestinfo_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/requestinfo"
)

func TestPathsAreRead(t *testing.T) {
	for _, row := range []struct {
		method, path string
		want         requestinfo.Info
	}{
		{"GET", "/api/v1/namespaces", requestinfo.Info{Verb: "list", IsResource: true, Version: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/", requestinfo.Info{Verb: "list", IsResource: true, Version: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/shop", requestinfo.Info{Verb: "get", IsResource: true, Version: "v1", Namespace: "shop", Resource: "namespaces", Name: "shop"}},
		{"HEAD", "/api/v1/namespaces/shop", requestinfo.Info{Verb: "get", IsResource: true, Version: "v1", Namespace: "shop", Resource: "namespaces", Name: "shop"}},
		{"PUT", "/api/v1/namespaces/shop/finalize", requestinfo.Info{Verb: "update", IsResource: true, Version: "v1", Namespace: "shop", Resource: "namespaces", Name: "shop", Subresource: "finalize"}},
		{"PATCH", "/api/v1/namespaces/shop/status", requestinfo.Info{Verb: "patch", IsResource: true, Version: "v1", Namespace: "shop", Resource: "namespaces", Name: "shop", Subresource: "status"}},
		{"POST", "/api/v1/namespaces/shop/pods", requestinfo.Info{Verb: "create", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true, Resource: "pods"}},
		{"DELETE", "/api/v1/namespaces/shop/pods", requestinfo.Info{Verb: "deletecollection", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true, Resource: "pods"}},
		{"DELETE", "/api/v1/namespaces/shop/pods/web", requestinfo.Info{Verb: "delete", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true, Resource: "pods", Name: "web"}},
		{"GET", "/api/v1/namespaces/shop/pods/web/log", requestinfo.Info{Verb: "get", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true, Resource: "pods", Name: "web", Subresource: "log"}},
		{"GET", "/api/v1/nodes/n/proxy/a/b", requestinfo.Info{Verb: "get", IsResource: true, Version: "v1", Resource: "nodes", Name: "n", Subresource: "proxy", Rest: []string{"a", "b"}}},
		{"GET", "/apis/apps/v1/deployments", requestinfo.Info{Verb: "list", IsResource: true, Group: "apps", Version: "v1", Resource: "deployments"}},
		{"GET", "/apis/apps/v1/namespaces/shop/deployments/web/scale", requestinfo.Info{Verb: "get", IsResource: true, Group: "apps", Version: "v1", Namespace: "shop", Scoped: true, Resource: "deployments", Name: "web", Subresource: "scale"}},
		{"GET", "/api/v1/watch/namespaces", requestinfo.Info{Verb: "watch", IsResource: true, Version: "v1", Resource: "namespaces", LegacyWatch: true}},
		{"GET", "/api/v1/watch/namespaces/shop/pods/web", requestinfo.Info{Verb: "watch", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true, Resource: "pods", Name: "web", LegacyWatch: true}},
		{"OPTIONS", "/api/v1/namespaces", requestinfo.Info{Verb: "options", IsResource: true, Version: "v1", Resource: "namespaces"}},
		{"GET", "/api", requestinfo.Info{Verb: "get"}},
		{"GET", "/api/v1", requestinfo.Info{Verb: "get"}},
		{"GET", "/apis/apps/v1", requestinfo.Info{Verb: "get"}},
		{"GET", "//api/v1/namespaces", requestinfo.Info{Verb: "get"}},
		{"POST", "/healthz", requestinfo.Info{Verb: "post"}},
		{"GET", "", requestinfo.Info{Verb: "get"}},
	} {
		row.want.Path = row.path
		assert.Equal(t, row.want, requestinfo.Parse(row.method, row.path), "%s %s", row.method, row.path)
	}
}

// Every field is a part of the path, whatever the path.
func TestNothingIsInvented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom([]string{http.MethodGet, http.MethodPost, http.MethodDelete, "X"}).Draw(t, "method")
		part := rapid.SampledFrom([]string{"", "api", "apis", "v1", "watch", "namespaces", "status", "a", ".."})
		path := "/" + strings.Join(rapid.SliceOfN(part, 0, 9).Draw(t, "parts"), "/")
		info := requestinfo.Parse(method, path)
		if !info.IsResource {
			assert.Equal(t, requestinfo.Info{Path: path, Verb: strings.ToLower(method)}, info)
			return
		}
		for _, found := range append(info.Rest, info.Group, info.Version, info.Namespace, info.Resource, info.Name, info.Subresource) {
			assert.Contains(t, append(strings.Split(path, "/"), ""), found)
		}
	})
}
