package apiserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPathsAreRead(t *testing.T) {
	for _, row := range []struct {
		method, path string
		want         pathInfo
	}{
		{"GET", "/api/v1/namespaces", pathInfo{Verb: "list", IsResource: true, Version: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/", pathInfo{Verb: "list", IsResource: true, Version: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/shop", pathInfo{Verb: "get", IsResource: true, Version: "v1",
			Namespace: "shop", Resource: "namespaces", Name: "shop"}},
		{"HEAD", "/api/v1/namespaces/shop", pathInfo{Verb: "get", IsResource: true, Version: "v1",
			Namespace: "shop", Resource: "namespaces", Name: "shop"}},
		{"PUT", "/api/v1/namespaces/shop/finalize",
			pathInfo{Verb: "update", IsResource: true, Version: "v1", Namespace: "shop", Resource: "namespaces",
				Name: "shop", Subresource: "finalize"}},
		{"PATCH", "/api/v1/namespaces/shop/status",
			pathInfo{Verb: "patch", IsResource: true, Version: "v1", Namespace: "shop", Resource: "namespaces",
				Name: "shop", Subresource: "status"}},
		{"POST", "/api/v1/namespaces/shop/pods", pathInfo{Verb: "create", IsResource: true, Version: "v1",
			Namespace: "shop", Scoped: true, Resource: "pods"}},
		{"DELETE", "/api/v1/namespaces/shop/pods", pathInfo{Verb: "deletecollection", IsResource: true,
			Version: "v1", Namespace: "shop", Scoped: true, Resource: "pods"}},
		{"DELETE", "/api/v1/namespaces/shop/pods/web",
			pathInfo{Verb: "delete", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true,
				Resource: "pods", Name: "web"}},
		{"GET", "/api/v1/namespaces/shop/pods/web/log",
			pathInfo{Verb: "get", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true,
				Resource: "pods", Name: "web", Subresource: "log"}},
		{"GET", "/api/v1/nodes/n/proxy/a/b", pathInfo{Verb: "get", IsResource: true, Version: "v1",
			Resource: "nodes", Name: "n", Subresource: "proxy", Rest: []string{"a", "b"}}},
		{"GET", "/apis/apps/v1/deployments", pathInfo{Verb: "list", IsResource: true, Group: "apps",
			Version: "v1", Resource: "deployments"}},
		{"GET", "/apis/apps/v1/namespaces/shop/deployments/web/scale",
			pathInfo{Verb: "get", IsResource: true, Group: "apps", Version: "v1", Namespace: "shop",
				Scoped: true, Resource: "deployments", Name: "web", Subresource: "scale"}},
		{"GET", "/api/v1/watch/namespaces", pathInfo{Verb: "watch", IsResource: true, Version: "v1",
			Resource: "namespaces", LegacyWatch: true}},
		{"GET", "/api/v1/watch/namespaces/shop/pods/web",
			pathInfo{Verb: "watch", IsResource: true, Version: "v1", Namespace: "shop", Scoped: true,
				Resource: "pods", Name: "web", LegacyWatch: true}},
		{"GET", "/api/v1/watch", pathInfo{Verb: "list", IsResource: true, Version: "v1", Resource: "watch"}},
		{"OPTIONS", "/api/v1/namespaces", pathInfo{Verb: "options", IsResource: true, Version: "v1",
			Resource: "namespaces"}},
		{"GET", "/api", pathInfo{Verb: "get"}},
		{"GET", "/api/v1", pathInfo{Verb: "get"}},
		{"GET", "/apis/apps/v1", pathInfo{Verb: "get"}},
		{"GET", "//api/v1/namespaces", pathInfo{Verb: "get"}},
		{"POST", "/healthz", pathInfo{Verb: "post"}},
		{"GET", "", pathInfo{Verb: "get"}},
	} {
		row.want.Path = row.path
		assert.Equal(t, row.want, parsePath(row.method, row.path), "%s %s", row.method, row.path)
	}
}
