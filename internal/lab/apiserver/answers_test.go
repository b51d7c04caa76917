package apiserver_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A deeply nested document is not indented: three megabytes would become gigabytes.
func TestDeepDocumentsAreNotIndented(t *testing.T) {
	const crd = `{"metadata":{"name":"nests.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"nests","singular":"nest","kind":"Nest","listKind":"NestList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
		deep := strings.Repeat("[", 5000) + `"a\"b"` + strings.Repeat(",1", 5000) + strings.Repeat("]", 5000)
		p.must(201, "POST", "/apis/example.com/v1/nests", `{"apiVersion":"example.com/v1","kind":"Nest","metadata":{"name":"a"},"deep":`+deep+`}`)
		for _, path := range []string{"/apis/example.com/v1/nests/a", "/apis/example.com/v1/nests"} {
			assert.Less(t, len(p.must(200, "GET", path+"?pretty=1", "").body), 100<<10)
		}
	})
}

func TestFormsOfAList(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		empty := p.must(200, "GET", configMaps, "")
		assert.Equal(t, indent(t, empty.body), p.must(200, "GET", configMaps+"?pretty=1", "").body)
		p.configMap("a")
		p.configMap("b")
		plain := p.must(200, "GET", configMaps, "")
		assert.Equal(t, strconv.Itoa(len(plain.body)), plain.header.Get("Content-Length"))
		assert.Equal(t, indent(t, plain.body), p.must(200, "GET", configMaps+"?pretty=1", "").body)
		assert.NotContains(t, plain.body, `"kind":"ConfigMap"`, "items have no kind")
		const asTable = "application/json;as=Table;g=meta.k8s.io;v=v1"
		table := p.must(200, "GET", configMaps+"?includeObject=None", "", "Accept", asTable).body
		assert.Contains(t, table, `"rows":[{"cells":["a",1,"0s"],"object":null},{"cells":["b",1,"0s"],"object":null}]`)
	})
}

func TestDocuments(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		for path, want := range map[string]string{
			"/": `"/apis/apps/v1"`,
			"/api": `"serverAddressByClientCIDRs":[` +
				`{"clientCIDR":"0.0.0.0/0","serverAddress":"apiserver.test"}]`,
			"/readyz?verbose&exclude=ping": "[+]ping excluded: ok\n",
			"/openapi/v3":                  `/openapi/v3/apis/apps/v1?hash=`,
			"/openapi/v3/api/v1":           `"openapi":"3.0.0"`,
			"/openapi/v3/apis/apps/v1":     "Deployment",
			"/debug/orrery/snapshot":       `"requests": {`,
		} {
			assert.Contains(t, p.must(200, "GET", path, "").body, want, path)
		}
		for path, want := range map[string]string{
			"/livez/ping/x": "404 page not found\n", "/openapi/v4": "404 page not found\n", "/openapi/v3/nothing": "",
			"/debug/orrery/nothing": "404 page not found\n", "/apis/a/b/": "404 page not found\n",
		} {
			assert.Equal(t, want, p.must(404, "GET", path, "").body, path)
		}
		for _, request := range []string{"POST /version", "POST /api", "POST /api/v1", "PUT /api/v1/pods", "DELETE /api/v1/namespaces", "OPTIONS /api/v1/namespaces", "FOO /api/v1/namespaces/a", "POST /debug/orrery/snapshot", "PUT /debug/orrery/faults", "DELETE /api/v1/namespaces/a/status", "GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"} {
			method, path, _ := strings.Cut(request, " ")
			assert.Equal(t, "the server does not allow this method on the requested resource", p.must(405, method, path, "").message(t), request)
		}
		assert.Equal(t, 405, p.do("HEAD", "/api/v1/namespaces", "").code)
		assert.Equal(t, "406: Not Acceptable\n\nAvailable representations: application/json",
			p.must(406, "GET", "/api", "", "Accept", "text/html").message(t))
		assert.Equal(t, "only the following media types are accepted: application/json",
			p.must(406, "GET", "/apis", "", "Accept",
				"application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2beta1").message(t))
		older := p.must(406, "GET", "/openapi/v2", "").message(t)
		assert.Equal(t, "this server describes its types in /openapi/v3 only", older)
		assert.Equal(t, 406, p.do("GET", "/openapi/v3/api/v1", "", "Accept", "text/html").code)
	})
}

func TestCachesOfDocuments(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
		for _, request := range [][]string{{"/api", aggregated}, {"/apis", aggregated},
			{"/openapi/v3/apis/apps/v1", ""}} {
			first := p.must(200, "GET", request[0], "", "Accept", request[1])
			etag := first.header.Get("Etag")
			assert.Regexp(t, `^"[0-9A-F]{128}"$`, etag)
			again := p.must(304, "GET", request[0], "", "Accept", request[1], "If-None-Match", `"x", `+etag)
			assert.Empty(t, again.body)
			assert.Equal(t, etag, again.header.Get("Etag"))
		}
		assert.Equal(t, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", p.do("GET", "/api?pretty", "", "Accept", aggregated).header.Get("Content-Type"))

		var index struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}
		require.NoError(t, json.Unmarshal([]byte(p.must(200, "GET", "/openapi/v3", "").body), &index))
		right := index.Paths["apis/apps/v1"].ServerRelativeURL
		named := p.must(200, "GET", right, "")
		assert.Equal(t, "public, immutable", named.header.Get("Cache-Control"))
		expires, err := http.ParseTime(named.header.Get("Expires"))
		require.NoError(t, err)
		assert.True(t, expires.After(time.Now().AddDate(0, 11, 0)))
		client := *p.client
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		p.client = &client
		wrong := p.must(301, "GET", "/openapi/v3/apis/apps/v1?hash=X", "")
		assert.Equal(t, right, wrong.header.Get("Location"))
	})
}

// A definition with rules is accepted with a warning, and an object that breaks a rule is accepted.
func TestRulesOfCustomResourcesAreIgnored(t *testing.T) {
	const definition = `{"metadata":{"name":"nests.example.com"},"spec":{"group":"example.com","scope":"Cluster",
		"names":{"plural":"nests","singular":"nest","kind":"Nest","listKind":"NestList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
			"properties":{"eggs":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 0"}]}}}}}]}}`
	bubble(t, func(t *testing.T, p *piped) {
		defined := p.must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
		warning := `299 - "this server ignores the rules in x-kubernetes-validations"`
		assert.Equal(t, []string{warning}, defined.header["Warning"])
		nest := `{"apiVersion":"example.com/v1","kind":"Nest","metadata":{"name":"a"},"eggs":0}`
		assert.Empty(t, p.must(201, "POST", "/apis/example.com/v1/nests", nest).header["Warning"])
	})
}

// A custom resource appears in discovery immediately, and disappears again.
func TestCustomResourcesAreDiscovered(t *testing.T) {
	const crd = `{"metadata":{"name":"crontabs.stable.example.com"},"spec":{"group":"stable.example.com","scope":"Namespaced",
		"names":{"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList"},
		"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
	const crds, tabs = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/stable.example.com/v1/namespaces/default/crontabs"
	bubble(t, func(t *testing.T, p *piped) {
		assert.Equal(t, "404 page not found\n", p.must(404, "GET", tabs, "").body)
		before := p.must(200, "GET", "/openapi/v3", "").body
		p.must(201, "POST", crds, crd)
		p.must(200, "GET", "/apis/stable.example.com/v1", "")
		assert.NotEqual(t, before, p.must(200, "GET", "/openapi/v3", "").body)
		p.must(201, "POST", tabs, `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"},"any":1}`)
		list := p.must(200, "GET", tabs, "").body
		assert.True(t, strings.HasPrefix(list, `{"kind":"CronTabList","apiVersion":"stable.example.com/v1","metadata":{"continue":"","resourceVersion":"`), list)
		assert.Contains(t, list, `"items":[{"kind":"CronTab","apiVersion":"stable.example.com/v1","metadata":{`)
		for path, want := range map[string]string{tabs + "/a/scale": `crontabs.stable.example.com "a" not found`} {
			assert.Equal(t, want, p.must(404, "GET", path, "").message(t))
		}
		assert.Equal(t, `create is not supported on resources of kind "crontabs.stable.example.com"`, p.must(405, "POST", tabs+"/a/status", "").message(t))
		for _, path := range []string{"/apis/stable.example.com/v1/crontabs/a", "/apis/stable.example.com/v1/nothing", "/apis/stable.example.com/v2/crontabs"} {
			assert.Equal(t, "404 page not found\n", p.must(404, "GET", path, "").body, path)
		}
		assert.Equal(t, "only the following media types are accepted: application/json",
			p.must(406, "GET", tabs, "", "Accept", "text/html").message(t))
		watch := p.watch(tabs + "?watch=1")
		watch.want("ADDED", "a")
		p.must(200, "DELETE", crds+"/crontabs.stable.example.com", "")
		watch.want("DELETED", "a")
		watch.ends()
		assert.Equal(t, 404, p.do("GET", tabs, "").code)
	})
}

// A group whose server does not answer.
func TestAGroupThatDoesNotAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.fault("broken-group:group=apps,version=v1")
		assert.Equal(t, 503, p.do("GET", "/apis/apps/v1", "").code)
		assert.Contains(t, p.groups(), `{"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Stale"}]}`)
	})
}
