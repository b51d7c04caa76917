package apiserver_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/restclient/restclienttest"
)

const (
	apiServices    = "/apis/apiregistration.k8s.io/v1/apiservices"
	services       = "/api/v1/namespaces/default/services"
	endpointSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
)

// extension runs a server over TLS pipes, for the Service name in the namespace default, and
// returns the base64 CA bundle for its clients.
func extension(t *testing.T, name string, handler http.HandlerFunc) (*restclienttest.Server, string) {
	t.Helper()
	authority := restclienttest.NewAuthority(t)
	server := restclienttest.NewTLSServer(t, handler, authority, func(c *tls.Config) {
		c.Certificates = []tls.Certificate{*authority.Issue(t, restclienttest.Leaf{Name: name, Hosts: []string{name + ".default.svc", "10.0.0.9"}})}
	})
	return server, base64.StdEncoding.EncodeToString(authority.PEM())
}

// available returns status, reason and message of the condition Available.
func (p *piped) available(name string) string {
	p.t.Helper()
	var service struct {
		Status struct {
			Conditions []struct{ Status, Reason, Message string }
		}
	}
	require.NoError(p.t, json.Unmarshal([]byte(p.must(200, "GET", apiServices+"/"+name, "").body), &service))
	if len(service.Status.Conditions) == 0 {
		return ""
	}
	c := service.Status.Conditions[0]
	return c.Status + " " + c.Reason + ": " + c.Message
}

// groups returns /apis in aggregated form.
func (p *piped) groups() string {
	return p.must(200, "GET", "/apis", "", "Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").body
}

// An APIService tells in the words of kube-aggregator why its server cannot be reached, and
// requests reach the server once it answers.
func TestAnAggregatedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		var seen atomic.Pointer[http.Header]
		other, bundle := extension(t, "metrics", func(w http.ResponseWriter, r *http.Request) {
			switch {
			case broken.Load():
				http.Error(w, "broken", http.StatusInternalServerError)
			case r.URL.Path == "/apis/metrics.example.com/v1":
				fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"metrics.example.com/v1","resources":[
					{"name":"nodes","singularName":"node","namespaced":false,"kind":"NodeMetrics","verbs":["get","list"]},
					{"name":"nodes/proxy","singularName":"","namespaced":false,"kind":"NodeProxy","verbs":["get"]}]}`)
			default:
				seen.Store(new(r.Header.Clone()))
				fmt.Fprintf(w, "%s %s", r.Method, r.URL.RequestURI())
			}
		})
		p := newPiped(t, func(c *apiserver.Config) { c.Dial = other.Dial })
		const name, path = "v1.metrics.example.com", "/apis/metrics.example.com/v1"
		p.must(201, "POST", apiServices, `{"metadata":{"name":"`+name+`"},"spec":{"group":"metrics.example.com","version":"v1",
			"groupPriorityMinimum":100,"versionPriority":10,"caBundle":"`+bundle+`","service":{"namespace":"default","name":"metrics"}}}`)
		unavailable := func(want string) {
			t.Helper()
			synctest.Wait()
			assert.Equal(t, want, p.available(name))
			assert.Equal(t, "service unavailable\n", p.must(503, "GET", path+"/nodes", "").body)
			assert.Contains(t, p.groups(), `{"metadata":{"name":"metrics.example.com"},"versions":[{"version":"v1","freshness":"Stale"}]}`)
		}
		unavailable(`False ServiceNotFound: service/metrics in "default" is not present`)
		p.must(201, "POST", services, `{"metadata":{"name":"metrics"},"spec":{"ports":[{"name":"https","port":8443}]}}`)
		unavailable(`False ServicePortError: service/metrics in "default" is not listening on port 443`)
		p.must(200, "PATCH", services+"/metrics", `{"spec":{"ports":[{"name":"https","port":443}]}}`, "Content-Type", "application/merge-patch+json")
		unavailable(`False EndpointsNotFound: cannot find endpointslices for service/metrics in "default"`)
		p.must(201, "POST", endpointSlices, `{"metadata":{"name":"m","labels":{"kubernetes.io/service-name":"metrics"}},"addressType":"IPv4",
			"endpoints":[{"addresses":["10.0.0.9"],"conditions":{"ready":false}}],"ports":[{"name":"https","port":6443}]}`)
		unavailable(`False MissingEndpoints: endpointslices for service/metrics in "default" have no addresses with port name "https"`)

		ready := func() {
			p.must(200, "PATCH", endpointSlices+"/m", `{"endpoints":[{"addresses":["10.0.0.9"],"conditions":{"ready":true}}]}`,
				"Content-Type", "application/merge-patch+json")
			synctest.Wait()
		}
		ready()
		assert.Equal(t, "True Passed: all checks passed", p.available(name))
		assert.Contains(t, p.groups(), `{"version":"v1","resources":[{"resource":"nodes","responseKind":{"group":"","version":"","kind":"NodeMetrics"},`+
			`"scope":"Cluster","singularResource":"node","verbs":["get","list"],"subresources":[{"subresource":"proxy"`)
		assert.Equal(t, "DELETE "+path+"/nodes/a?x=1", p.must(200, "DELETE", path+"/nodes/a?x=1", "", "Authorization", "Bearer "+p.server.Token(), "X-Remote-User", "me").body)
		assert.Equal(t, "kubernetes-admin", seen.Load().Get("X-Remote-User"))
		assert.Contains(t, seen.Load().Values("X-Remote-Group"), "system:masters")
		assert.Empty(t, seen.Load().Get("Authorization"))

		broken.Store(true)
		time.Sleep(11 * time.Second) // the server is asked again
		synctest.Wait()
		const asked = "https://10.0.0.9:6443" + path
		assert.Equal(t, "False FailedDiscoveryCheck: failing or missing response from "+asked+": bad status from "+asked+": 500", p.available(name))
		p.must(503, "GET", path+"/nodes", "")
		broken.Store(false)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		assert.Equal(t, "True Passed: all checks passed", p.available(name))
		other.Refuse(true)
		other.CloseConnections()
		assert.True(t, strings.HasPrefix(p.must(503, "GET", path+"/nodes", "").body, "error trying to reach service: "))
		other.Refuse(false)

		p.must(200, "DELETE", services+"/metrics", "")
		unavailable(`False ServiceNotFound: service/metrics in "default" is not present`)
		p.must(200, "DELETE", apiServices+"/"+name, "")
		assert.NotContains(t, p.groups(), "metrics.example.com")
		assert.Equal(t, 404, p.do("GET", path+"/nodes", "").code)
	})
}
