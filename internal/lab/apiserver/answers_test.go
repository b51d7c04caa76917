package apiserver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

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

// A group whose server does not answer is announced as stale, whether or not it is known otherwise.
func TestAGroupThatDoesNotAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.fault("broken-group:group=apps,version=v1")
		p.fault("broken-group:group=metrics.k8s.io,version=v1beta1")
		p.fault("stale-discovery:group=batch,version=v1")
		for path, code := range map[string]int{
			"/apis/apps/v1": 503, "/apis/metrics.k8s.io/v1beta1": 503, "/apis/batch/v1": 200,
		} {
			assert.Equal(t, code, p.do("GET", path, "").code, path)
		}
		assert.Contains(t, p.groups(), `{"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Stale"}]}`)
		assert.Contains(t, p.groups(),
			`{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}`)
		assert.Equal(t, 3, strings.Count(p.groups(), `"freshness":"Stale"`))
		assert.Contains(t, p.must(200, "GET", "/apis", "").body, `"groupVersion":"metrics.k8s.io/v1beta1"`)
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
		assert.Equal(t, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
			p.do("GET", "/api?pretty", "", "Accept", aggregated).header.Get("Content-Type"))
	})
}
