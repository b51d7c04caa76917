package guard_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/requestinfo"
	"orrery/internal/lab/labs/guard"
)

func ours(namespace string) bool { return namespace == "lab-1" }

// request returns a request as net/http reads it. Headers follow the path: "GET /api Name: value".
func request(t testing.TB, line string) *http.Request {
	words := strings.SplitN(line, " ", 3)
	target, err := url.ParseRequestURI(words[1])
	require.NoError(t, err)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Method, r.URL, r.RequestURI = words[0], target, words[1]
	if len(words) > 2 {
		for field := range strings.SplitSeq(words[2], ", ") {
			name, value, _ := strings.Cut(field, ": ")
			r.Header.Set(name, value)
		}
	}
	return r
}

func TestAllowedRequests(t *testing.T) {
	const websocket = " Connection: Upgrade, Upgrade: websocket"
	for _, line := range []string{
		"GET /", "GET /version", "GET /api", "GET /apis/apps/v1", "GET /openapi/v3", "HEAD /healthz",
		"GET /api/v1/namespaces",
		"GET /api/v1/namespaces?watch=1&resourceVersion=7",
		"GET /api/v1/namespaces?watch=true" + websocket,
		"GET /api/v1/watch/namespaces" + websocket,
		"GET /api/v1/namespaces/kube-system/pods/a/log?follow=true",
		"GET /api/v1/secrets",
		"GET /apis/metrics.k8s.io/v1beta1/nodes",
		"GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system:controller:namespace-controller",
		"GET /api/v1/namespaces/default/configmaps/proxy",
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
		"POST /apis/authentication.k8s.io/v1/selfsubjectreviews",

		"PUT /api/v1/namespaces/lab-1", "PATCH /api/v1/namespaces/lab-1", "DELETE /api/v1/namespaces/lab-1",
		"PUT /api/v1/namespaces/lab-1/finalize", "PUT /api/v1/namespaces/lab-1/status", "PATCH /api/v1/namespaces/lab-1/status",
		"POST /api/v1/namespaces/lab-1/configmaps", "DELETE /api/v1/namespaces/lab-1/configmaps",
		"DELETE /api/v1/namespaces/lab-1/pods/a?gracePeriodSeconds=0",
		"DELETE /apis/apps/v1/namespaces/lab-1/deployments?labelSelector=a",
		"PATCH /apis/apps/v1/namespaces/lab-1/replicasets/a/status", "PUT /apis/apps/v1/namespaces/lab-1/replicasets/a/scale",
		"PUT /apis/coordination.k8s.io/v1/namespaces/lab-1/leases/orrery", "POST /api/v1/namespaces/lab-1/events",
	} {
		assert.Empty(t, guard.Decide(request(t, line), ours), line)
	}
}

func TestRefusedRequests(t *testing.T) {
	for why, lines := range map[string][]string{
		"this run did not create the namespace": {
			"DELETE /api/v1/namespaces/default", "PUT /api/v1/namespaces/lab-2/finalize", "PATCH /api/v1/namespaces/lab-10/status",
			"DELETE /api/v1/namespaces/default/configmaps", "DELETE /api/v1/namespaces/default/configmaps/a",
			"DELETE /apis/apps/v1/namespaces/kube-system/deployments/coredns",
			"PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/orrery", "POST /api/v1/namespaces/default/events",
			"DELETE /api/v1/namespaces/default/configmaps?namespace=lab-1", "DELETE /api/v1/namespaces/LAB-1/configmaps",
		},
		"applies to namespaces that this run did not create": {
			"POST /api/v1/namespaces", "DELETE /api/v1/namespaces", "DELETE /api/v1/namespaces?fieldSelector=metadata.name=lab-1",
		},
		"are not in a namespace of this run": {
			"DELETE /api/v1/nodes/a", "DELETE /api/v1/nodes", "POST /api/v1/configmaps", "DELETE /api/v1/pods",
			"DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions", "PUT /api/v1/persistentvolumes/a/status",
			"POST /apis/authorization.k8s.io/v1/subjectaccessreviews", "POST /apis/example.com/v1/selfsubjectaccessreviews",
			"POST /apis/authorization.k8s.io/v1beta1/selfsubjectaccessreviews", "PATCH /apis/rbac.authorization.k8s.io/v1/clusterroles/a",
			"DELETE /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		},
		"these are not the namespaces of Kubernetes": {
			"DELETE /apis/example.com/v1/namespaces/lab-1", "DELETE /api/v2/namespaces/lab-1", "DELETE /api/v1/namespaces/lab-1/namespaces/default",
		},
		"may reach beyond the namespace": {
			"POST /api/v1/namespaces/lab-1/serviceaccounts/default/token", "POST /api/v1/namespaces/lab-1/pods/a/eviction",
			"POST /api/v1/namespaces/lab-1/pods/a/binding",
		},
		"it opens a connection": {
			"GET /api/v1/namespaces/lab-1/pods/a/exec?command=id Connection: Upgrade, Upgrade: websocket",
			"GET /api/v1/namespaces/default/pods/a/exec?command=id", "POST /api/v1/namespaces/lab-1/pods/a/attach",
			"GET /api/v1/namespaces/lab-1/pods/a/portforward", "GET /api/v1/nodes/a/proxy/run/default/a/b", "GET /api/v1/nodes/a/proxy",
			"DELETE /api/v1/namespaces/lab-1/services/a/proxy/b", "GET /api/v1/proxy/namespaces/default/services/a",
			"GET /api/v1/namespaces/default/pods/a/exec?watch=true Connection: Upgrade, Upgrade: websocket",
		},
		"only a watch may use a websocket": {
			"GET /api/v1/namespaces Connection: Upgrade, Upgrade: websocket", "GET /version?watch=1 Connection: Upgrade, Upgrade: websocket",
			"GET /api/v1/namespaces?watch=0&watch=1 Connection: Upgrade, Upgrade: websocket",
			"GET /api/v1/namespaces?watch=1 Connection: Upgrade, Upgrade: SPDY/3.1",
			"GET /apis/subresources.example.com/v1/namespaces/lab-1/machines/a/console?watch=1 Connection: Upgrade, Upgrade: websocket",
			"GET /apis/subresources.example.com/v1/watch/namespaces/lab-1/machines/a/console Connection: Upgrade, Upgrade: websocket",
			"POST /api/v1/namespaces/lab-1/configmaps?watch=1 Connection: Upgrade, Upgrade: websocket",
		},
		"the path is not plain": {
			"DELETE /api/v1/namespaces/lab-1/../default", "DELETE /api/v1/namespaces/lab-1/./configmaps", "DELETE //api/v1/namespaces/lab-1",
			"DELETE /api/v1/namespaces/lab-1//configmaps", "DELETE /api/v1/namespaces/lab-1/", "DELETE /api/v1/namespaces/lab-1%2f..%2fdefault",
			"DELETE /api/v1/namespaces/%64efault", "DELETE /api/v1/namespaces/lab-1/%2e%2e/default", `DELETE /api/v1/namespaces/lab-1\..\default`,
			"GET /api/v1/namespaces/lab-1/pods/a%2fexec", "GET /api/v1/namespaces/lab-1/pods/a/exec/", "DELETE /api/v1/namespaces/lab-1/configmaps/a%00",
		},
		"in the name of another user": {
			"GET /api/v1/namespaces Impersonate-User: admin", "DELETE /api/v1/namespaces/lab-1 impersonate-group: system:masters",
			"GET /api/v1/namespaces Impersonate-Extra-Scopes: a",
		},
		"Kubernetes has no such method": {
			"OPTIONS /api/v1/namespaces", "CONNECT /api/v1/namespaces/lab-1/configmaps", "TRACE /", "delete /api/v1/namespaces/default/configmaps",
		},
		"it is neither a read nor a write of an object": {
			"POST /", "PUT /healthz", "DELETE /api/v1", "POST /logs/kubelet.log", "DELETE /api/v1/watch/namespaces/lab-1/pods/a",
			"DELETE /api/v1/namespaces/lab-1/configmaps/a/status/b", "PUT /api/v1/namespaces/lab-1/status/a",
		},
	} {
		for _, line := range lines {
			assert.Contains(t, guard.Decide(request(t, line), ours), why, line)
		}
	}
}

// Every write that passes names a namespace of this run.
func TestAWriteThatPassesIsInANamespaceOfTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"", "api", "apis", "apps", "v1", "watch", "namespaces", "lab-1", "default", "pods", "status",
			"finalize", "..", "%2e%2e", "a%2fb", "exec", "selfsubjectaccessreviews", "authorization.k8s.io"})
		path := "/" + strings.Join(rapid.SliceOfN(part, 0, 9).Draw(t, "parts"), "/")
		target, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		method := rapid.SampledFrom([]string{"POST", "PUT", "PATCH", "DELETE", "delete", "LINK"}).Draw(t, "method")
		if guard.Decide(&http.Request{Method: method, URL: target, Header: http.Header{}}, ours) != "" {
			return
		}
		info := requestinfo.Parse(method, path)
		if info.Group != "authorization.k8s.io" || info.Resource != "selfsubjectaccessreviews" {
			assert.Equal(t, "lab-1", info.Namespace, "%s %s", method, path)
		}
	})
}
