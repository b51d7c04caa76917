package apiserver_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
)

const reviews = "/apis/authorization.k8s.io/v1/"

func protect(config *apiserver.Config) {
	config.Unprotected = false
	config.Tokens = map[string]apiserver.User{"joes": {Name: "joe", UID: "7", Groups: []string{"devs"}}}
}

// A token of a service account, from issue to expiry.
func TestTokensOfServiceAccounts(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		admin := []string{"Authorization", "Bearer " + p.server.Token()}
		const accounts = "/api/v1/namespaces/default/serviceaccounts"
		p.must(201, "POST", accounts, `{"metadata":{"name":"web"}}`, admin...)
		request := p.must(201, "POST", accounts+"/web/token", `{"spec":{"expirationSeconds":600}}`, admin...)
		var made struct {
			Kind   string
			Spec   struct{ Audiences []string }
			Status struct{ Token, ExpirationTimestamp string }
		}
		require.NoError(t, json.Unmarshal([]byte(request.body), &made))
		assert.Equal(t, "TokenRequest", made.Kind)
		assert.Equal(t, []string{"https://kubernetes.default.svc.cluster.local"}, made.Spec.Audiences)
		assert.Equal(t, time.Now().Add(10*time.Minute).UTC().Format(time.RFC3339), made.Status.ExpirationTimestamp)
		mine := []string{"Authorization", "Bearer " + made.Status.Token}
		p.must(200, "GET", "/api/v1/namespaces", "", mine...)

		review := func(token string) string {
			return p.must(201, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+token+`"}}`,
				admin...).body
		}
		assert.Contains(t, review(made.Status.Token), `"username":"system:serviceaccount:default:web"`)
		assert.Contains(t, review("joes"), `"groups":["devs","system:authenticated"],"uid":"7","username":"joe"`)
		assert.Contains(t, review("x"), `"error":"invalid bearer token"`)
		p.must(422, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", `{}`, admin...)

		time.Sleep(10 * time.Minute)
		p.must(401, "GET", "/api/v1/namespaces", "", mine...)
		p.must(404, "POST", accounts+"/missing/token", `{}`, admin...)
		p.must(422, "POST", accounts+"/web/token", `{"spec":{"expirationSeconds":1}}`, admin...)
		p.must(422, "POST", accounts+"/web/token", `{"spec":{"expirationSeconds":9999999999}}`, admin...)
		p.must(405, "GET", accounts+"/web/token", "", admin...)
	}, protect)
}

func TestFaultsAreOrderedAtTheDebugEndpoint(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", "/debug/orrery/faults", "unavailable")
		p.must(503, "GET", "/api/v1/namespaces", "")
		var list struct {
			Active    []struct{ ID, Text string }
			Catalogue []struct{ Usage, Teaches string }
		}
		require.NoError(t, json.Unmarshal([]byte(p.must(200, "GET", "/debug/orrery/faults", "").body), &list))
		require.Len(t, list.Active, 1)
		assert.Equal(t, "unavailable", list.Active[0].Text)
		assert.NotEmpty(t, list.Catalogue[0].Teaches)
		p.must(200, "GET", "/readyz", "")
		p.must(200, "DELETE", "/debug/orrery/faults/"+list.Active[0].ID, "")
		p.must(404, "DELETE", "/debug/orrery/faults/"+list.Active[0].ID, "")
		p.must(200, "GET", "/api/v1/namespaces", "")
		assert.Contains(t, p.must(400, "POST", "/debug/orrery/faults", "unavailble").message(t), "unavailable")
		assert.True(t, strings.HasPrefix(p.must(200, "GET", "/debug/orrery/faults", "").body, "{\n  \"active\": [],\n"),
			"indented, with the active faults first")
		assert.True(t, strings.HasPrefix(p.must(200, "GET", "/debug/orrery/faults?pretty=false", "").body,
			`{"active":[],`))
	})
}

// Each fault shows in an answer.
func TestFaultsStrike(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		change := func() answer {
			return p.do("PATCH", configMaps+"/a", `{"data":{"t":"`+time.Now().String()+`"}}`, "Content-Type",
				"application/merge-patch+json")
		}
		get := func() answer { return p.do("GET", configMaps+"/a?resourceVersion=0", "") }
		for fault, check := range map[string]func(){
			"too-many-requests:retry-after=3s": func() {
				got := get()
				assert.Equal(t, 429, got.code)
				assert.Equal(t, "3", got.header.Get("Retry-After"))
			},
			"internal-error":           func() { assert.Equal(t, 500, get().code) },
			"conflict":                 func() { assert.Equal(t, 409, change().code) },
			"webhook-denies":           func() { assert.Equal(t, 403, change().code) },
			"webhook-unreachable":      func() { assert.Equal(t, 500, change().code) },
			"forbid:verb=get":          func() { assert.Equal(t, 403, get().code) },
			"not-allowed:verb=get":     func() { assert.Equal(t, 405, get().code) },
			"keeps-creating:manager=m": func() { assert.Contains(t, p.do("GET", configMaps, "").body, `"name":"m-`) },
			"unreadable:name=a": func() {
				assert.Contains(t, get().body, "no matching prefix found")
				assert.Equal(t, 404, p.do("GET", configMaps+"/other", "").code, "another object is not concerned")
			},
			"delay:by=1m": func() {
				begun := time.Now()
				assert.Equal(t, 200, get().code)
				assert.Equal(t, time.Minute, time.Since(begun))
			},
			"stale-reads:versions=5": func() {
				for range 3 {
					assert.Equal(t, 200, change().code)
				}
				assert.NotEqual(t, p.must(200, "GET", configMaps+"/a", "").body, get().body)
			},
		} {
			id, err := p.server.Faults().Add(fault)
			if !assert.NoError(t, err, fault) {
				continue
			}
			check()
			p.server.Faults().Remove(id)
			require.Equal(t, 200, get().code, fault)
		}
	})
}

// A panic in a handler affects one answer only.
func TestPanics(t *testing.T) {
	var reported []any
	bubble(t, func(t *testing.T, p *piped) {
		got := p.must(500, "GET", "/api/v1/namespaces/panic", "")
		assert.Contains(t, got.message(t), "a handler panicked")
		p.must(200, "GET", "/api/v1/namespaces/default", "")
		assert.Equal(t, []any{"hook"}, reported)
	}, func(c *apiserver.Config) {
		c.Trace = &apiserver.Trace{
			RequestStarted: func(info apiserver.RequestInfo) {
				if strings.HasSuffix(info.URI, "/panic") {
					panic("hook")
				}
			},
			Panicked: func(_ apiserver.RequestInfo, value any, stack []byte) {
				reported = append(reported, value)
				assert.True(t, bytes.Contains(stack, []byte("access_test.go")))
			},
		}
	})
}

func TestTheTraceReportsRequests(t *testing.T) {
	var begun, done []apiserver.RequestInfo
	var results []apiserver.RequestResult
	bubble(t, func(t *testing.T, p *piped) {
		p.must(200, "GET", "/api/v1/namespaces?limit=1", "", "User-Agent", "me")
		assert.Equal(t, []apiserver.RequestInfo{{Method: "GET", URI: "/api/v1/namespaces?limit=1", Verb: "list",
			User: "kubernetes-admin", UserAgent: "me"}}, begun)
		assert.Equal(t, begun, done)
		assert.Equal(t, 200, results[0].Code)
		assert.Positive(t, results[0].Bytes)
		client := p.restClient(func(c *restclient.Config) { c.WatchTransport = restclient.WatchWebSocket })
		watch, err := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "").
			Watch(t.Context(), api.ListOptions{})
		require.NoError(t, err)
		watch.Stop()
		synctest.Wait()
		assert.Equal(t, 101, results[len(results)-1].Code, "the connection of a websocket is taken over")
	}, func(c *apiserver.Config) {
		c.Trace = &apiserver.Trace{
			RequestStarted: func(info apiserver.RequestInfo) { begun = append(begun, info) },
			RequestDone: func(info apiserver.RequestInfo, result apiserver.RequestResult) {
				done, results = append(done, info), append(results, result)
			},
		}
	})
}

func TestInvalidConfigurations(t *testing.T) {
	server, err := apiserver.New(apiserver.Config{})
	require.NoError(t, err)
	defer server.Stop(t.Context())
	assert.Empty(t, server.URL())
	assert.Nil(t, server.CertificateAuthority())
	file := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.Error(t, server.WriteKubeconfig(filepath.Join(file, "kubeconfig")), "path below a file")
}

func TestImpersonation(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		whoami := func(headers ...string) string {
			return p.must(201, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", headers...).body
		}
		assert.Contains(t, whoami(),
			`"userInfo":{"groups":["system:masters","system:authenticated"],"username":"kubernetes-admin"}`)
		assert.Contains(t, whoami("Impersonate-User", "ann", "Impersonate-Group", "devs", "Impersonate-Uid", "9"),
			`"userInfo":{"groups":["devs","system:authenticated"],"uid":"9","username":"ann"}`)
		assert.Contains(t, whoami("Impersonate-User", "system:serviceaccount:shop:web"),
			`"groups":["system:serviceaccounts","system:serviceaccounts:shop","system:authenticated"]`)
		assert.Contains(t, whoami("Impersonate-User", "system:serviceaccount:shop:web", "Impersonate-Group", "devs"),
			`"groups":["devs","system:authenticated"]`, "groups that are given replace those of a service account")
		p.must(400, "GET", "/api", "", "Impersonate-Group", "devs")
		p.must(403, "GET", "/debug/orrery/faults", "", "Impersonate-User", "ann")
	})
}

func TestReviews(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		_, err := p.server.Faults().Add("forbid:verb=list,resource=secrets")
		require.NoError(t, err)
		mayI := func(kind, spec string) string {
			return p.must(201, "POST", reviews+kind, `{"spec":`+spec+`}`).body
		}
		assert.Contains(t, mayI("selfsubjectaccessreviews",
			`{"resourceAttributes":{"verb":"get","resource":"secrets"}}`), `"status":{"allowed":true}`)
		assert.Contains(t, mayI("selfsubjectaccessreviews", `{"nonResourceAttributes":{"verb":"get","path":"/x"}}`),
			`"status":{"allowed":true}`)
		id, err := p.server.Faults().Add("forbid:verb=delete,resource=pods,namespace=shop")
		require.NoError(t, err)
		for namespace, allowed := range map[string]string{"shop": `"allowed":false`, "web": `"allowed":true`} {
			assert.Contains(t, mayI("selfsubjectaccessreviews", `{"resourceAttributes":{"verb":"delete","resource":`+
				`"pods","namespace":"`+namespace+`"}}`), allowed, namespace)
		}
		p.server.Faults().Remove(id)
		forbidden := mayI("subjectaccessreviews",
			`{"user":"joe","resourceAttributes":{"verb":"list","resource":"secrets","namespace":"shop"}}`)
		assert.Contains(t, forbidden, `"allowed":false`)
		assert.Contains(t, forbidden, `User \"joe\" cannot list resource \"secrets\"`)
		incomplete := mayI("selfsubjectrulesreviews", `{"namespace":"shop"}`)
		assert.Contains(t, incomplete, `"incomplete":true`)
		assert.Contains(t, incomplete, `"resourceRules":[]`, "a rule that says everything would be wrong")
		assert.Contains(t, mayI("selfsubjectaccessreviews",
			`{"resourceAttributes":{"verb":"list","group":"*","resource":"*"}}`), `"allowed":false`)
		assert.Contains(t, mayI("selfsubjectaccessreviews",
			`{"resourceAttributes":{"verb":"get","group":"*","resource":"*"}}`), `"allowed":true`)
		assert.Zero(t, p.server.Faults().List()[0].Hits, "a question is no request")
		const unused = "Roles are stored and not evaluated"
		assert.Contains(t, mayI("subjectaccessreviews",
			`{"user":"joe","resourceAttributes":{"verb":"get","resource":"pods"}}`), unused)
		assert.NotContains(t, mayI("subjectaccessreviews", `{"user":"root","groups":["system:masters"],
			"resourceAttributes":{"verb":"get","resource":"pods"}}`), unused,
			"an administrator may do this on every cluster")
		assert.NotContains(t, forbidden, unused, "the server does evaluate faults")
		p.server.Faults().Remove(p.server.Faults().List()[0].ID)
		rules := p.must(201, "POST", reviews+"selfsubjectrulesreviews", `{"spec":{"namespace":"shop"}}`,
			"Impersonate-User", "ann").body
		assert.Contains(t, rules, `"evaluationError":"`+unused)
		assert.NotContains(t, mayI("selfsubjectrulesreviews", `{"namespace":"shop"}`), unused)
		local := "/apis/authorization.k8s.io/v1/namespaces/shop/localsubjectaccessreviews"
		p.must(201, "POST", local,
			`{"spec":{"user":"joe","resourceAttributes":{"verb":"get","resource":"pods","namespace":"shop"}}}`)
		p.must(404, "POST", reviews+"localsubjectaccessreviews", `{}`)
	})
}
