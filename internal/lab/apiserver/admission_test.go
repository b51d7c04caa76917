package apiserver_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
	"orrery/restclient/restclienttest"
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

const (
	policies       = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	policyBindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
)

// guard plays a webhook that denies what its answer says.
type guard struct {
	t      *testing.T
	asked  map[string]any // the last request
	path   string
	answer string // of the member response, without the uid
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion, Kind string
		Request          map[string]any
	}
	assert.NoError(g.t, json.NewDecoder(r.Body).Decode(&review))
	assert.Equal(g.t, "AdmissionReview", review.Kind)
	g.asked, g.path = review.Request, r.URL.RequestURI()
	fmt.Fprintf(w, `{"apiVersion":%q,"kind":"AdmissionReview","response":{"uid":%q,%s}}`, review.APIVersion, review.Request["uid"], g.answer)
}

// hook returns a ValidatingWebhookConfiguration for deletions of ConfigMaps.
func hook(bundle, more string) string {
	return `{"metadata":{"name":"policy"},"webhooks":[{"name":"deny.policy.io","sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{"caBundle":"` + bundle + `","service":{"namespace":"default","name":"deny","path":"/check"}},
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps"]}]` + more + `}]}`
}

// A validating webhook is found by its Service, and its answer decides.
func TestAValidatingWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{t: t, answer: `"allowed":false,"status":{"message":"not today","code":403,"reason":"Forbidden"},"warnings":["careful"]`}
		other, bundle := extension(t, "deny", g.ServeHTTP)
		p := newPiped(t, func(c *apiserver.Config) { c.Dial = other.Dial })
		p.configMap("a")
		p.must(201, "POST", webhookConfigurations, hook(bundle, ""))
		const failed = `Internal error occurred: failed calling webhook "deny.policy.io": failed to call webhook: ` +
			`Post "https://deny.default.svc:443/check?timeout=10s": `
		refused := func(reason string) {
			t.Helper()
			assert.Equal(t, failed+reason, p.must(500, "DELETE", configMaps+"/a", "").message(t))
		}
		refused(`service "deny" not found`)
		p.must(201, "POST", services, `{"metadata":{"name":"deny"},"spec":{"ports":[{"port":443}]}}`)
		refused(`no endpoints available for service "deny"`)
		p.must(201, "POST", endpointSlices, `{"metadata":{"name":"d","labels":{"kubernetes.io/service-name":"deny"}},"addressType":"IPv4",
			"endpoints":[{"addresses":["10.0.0.9"]}],"ports":[{"port":8443}]}`)

		denied := p.must(403, "DELETE", configMaps+"/a?dryRun=All", "")
		assert.Equal(t, `admission webhook "deny.policy.io" denied the request: not today`, denied.message(t))
		assert.Equal(t, `299 - "careful"`, denied.header.Get("Warning"))
		assert.Equal(t, "/check?timeout=10s", g.path)
		assert.Equal(t, "DELETE", g.asked["operation"])
		assert.Equal(t, "a", g.asked["name"])
		assert.Equal(t, "default", g.asked["namespace"])
		assert.Equal(t, true, g.asked["dryRun"])
		assert.Nil(t, g.asked["object"])
		assert.Equal(t, "kubernetes-admin", g.asked["userInfo"].(map[string]any)["username"])
		old, _ := g.asked["oldObject"].(map[string]any)
		assert.Equal(t, []any{"v1", "ConfigMap", map[string]any{"k": "v"}}, []any{old["apiVersion"], old["kind"], old["data"]})

		// Other operations and types do not concern it, and neither does its own configuration.
		p.must(200, "PATCH", configMaps+"/a", `{"data":{"x":"y"}}`, "Content-Type", "application/merge-patch+json")
		p.must(201, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`)
		p.must(200, "DELETE", "/api/v1/namespaces/default/secrets/s", "")
		assert.Contains(t, p.must(403, "DELETE", configMaps, "").message(t), "not today")
		assert.Empty(t, g.asked["name"], "the request for a collection has no name")

		g.answer = `"allowed":false`
		assert.Equal(t, `admission webhook "deny.policy.io" denied the request without explanation`, p.must(400, "DELETE", configMaps+"/a", "").message(t))
		g.answer = `"uid":"other","allowed":true`
		assert.Contains(t, p.must(500, "DELETE", configMaps+"/a", "").message(t), `received invalid webhook response: expected response.uid=`)
		other.Refuse(true)
		other.CloseConnections()
		assert.True(t, strings.HasPrefix(p.must(500, "DELETE", configMaps+"/a", "").message(t), failed))
		p.must(200, "DELETE", webhookConfigurations+"/policy", "")
		p.must(200, "DELETE", configMaps+"/a", "")
	})
}

// A webhook is not called where its selectors do not match, and need not answer with failurePolicy
// Ignore.
func TestWebhooksThatAreNotCalled(t *testing.T) {
	for name, more := range map[string]string{
		"ignored":    `,"failurePolicy":"Ignore"`,
		"namespaces": `,"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["default"]}]}`,
		"objects":    `,"objectSelector":{"matchLabels":{"guarded":"yes"}}`,
		"conditions": `,"matchConditions":[{"name":"a","expression":"oldObject.data.k != 'v'"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *piped) {
				p.configMap("a")
				p.must(201, "POST", webhookConfigurations, hook("", more))
				p.must(200, "DELETE", configMaps+"/a", "")
			})
		})
	}
}

// An unavailable webhook of a Service in the namespace is what keeps it from being emptied.
func TestAWebhookThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		defer close(block)
		other, bundle := extension(t, "deny", func(http.ResponseWriter, *http.Request) { <-block })
		p := newPiped(t, func(c *apiserver.Config) { c.Dial = other.Dial })
		p.configMap("a")
		p.must(201, "POST", services, `{"metadata":{"name":"deny"},"spec":{"ports":[{"port":443}]}}`)
		p.must(201, "POST", endpointSlices, `{"metadata":{"name":"d","labels":{"kubernetes.io/service-name":"deny"}},"addressType":"IPv4",
			"endpoints":[{"addresses":["10.0.0.9"]}],"ports":[{"port":8443}]}`)
		p.must(201, "POST", webhookConfigurations, hook(bundle, `,"timeoutSeconds":3`))
		assert.Equal(t, `Internal error occurred: failed calling webhook "deny.policy.io": failed to call webhook: `+
			`Post "https://deny.default.svc:443/check?timeout=3s": context deadline exceeded`, p.must(500, "DELETE", configMaps+"/a", "").message(t))
	})
}

// policy creates a ValidatingAdmissionPolicy for deletions of ConfigMaps, and a binding.
func (p *piped) policy(spec, binding string) {
	p.t.Helper()
	p.must(201, "POST", policies, `{"metadata":{"name":"keep"},"spec":{"matchConstraints":{"resourceRules":[
		{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps"]}]},`+spec+`}}`)
	p.must(201, "POST", policyBindings, `{"metadata":{"name":"keep-all"},"spec":{"policyName":"keep",`+binding+`}}`)
}

func TestAnAdmissionPolicy(t *testing.T) {
	const denied = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep-all' denied request: `
	const deny = `"validationActions":["Deny"]`
	for name, c := range map[string]struct {
		spec, binding string
		code          int
		message       string
	}{
		"expression":  {`"validations":[{"expression":"oldObject.data.k != 'v'"}]`, deny, 422, denied + "failed expression: oldObject.data.k != 'v'"},
		"message":     {`"validations":[{"expression":"false","message":"keep it","reason":"Forbidden"}]`, deny, 403, denied + "keep it"},
		"composed":    {`"validations":[{"expression":"false","messageExpression":"'no ' + request.operation"}]`, deny, 422, denied + "no DELETE"},
		"error":       {`"validations":[{"expression":"oldObject.nope == 1"}]`, deny, 422, denied + "expression 'oldObject.nope == 1' resulted in error: no such key: nope"},
		"no error":    {`"failurePolicy":"Ignore","validations":[{"expression":"oldObject.nope == 1"}]`, deny, 200, ""},
		"variables":   {`"variables":[{"name":"k","expression":"oldObject.data.k"}],"validations":[{"expression":"variables.k == 'w'","message":"w"}]`, deny, 422, denied + "w"},
		"valid":       {`"validations":[{"expression":"object == null"}]`, deny, 200, ""},
		"namespace":   {`"validations":[{"expression":"namespaceObject.metadata.name == 'other'","message":"here"}]`, deny, 422, denied + "here"},
		"conditions":  {`"matchConditions":[{"name":"a","expression":"false"}],"validations":[{"expression":"false"}]`, deny, 200, ""},
		"warns":       {`"validations":[{"expression":"false"}]`, `"validationActions":["Warn"]`, 200, ""},
		"elsewhere":   {`"validations":[{"expression":"false"}]`, deny + `,"matchResources":{"namespaceSelector":{"matchLabels":{"x":"y"}}}`, 200, ""},
		"no kind":     {`"paramKind":{"apiVersion":"x.example.com/v1","kind":"Limit"},"validations":[{"expression":"false"}]`, deny, 422, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'keep' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.example.com/v1, Kind=Limit'`},
		"no params":   {`"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"true"}]`, deny + `,"paramRef":{"name":"limits","parameterNotFoundAction":"Deny"}`, 422, denied + "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
		"allowed":     {`"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"false"}]`, deny + `,"paramRef":{"name":"limits","parameterNotFoundAction":"Allow"}`, 200, ""},
		"with params": {`"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},"validations":[{"expression":"params.data.k != 'v'"}]`, deny + `,"paramRef":{"name":"a","parameterNotFoundAction":"Deny"}`, 422, denied + "failed expression: params.data.k != 'v'"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *piped) {
				p.configMap("a")
				p.policy(c.spec, c.binding)
				got := p.must(c.code, "DELETE", configMaps+"/a", "")
				if c.code != 200 {
					require.Equal(t, c.message, got.message(t))
					assert.Contains(t, got.body, `"details":{"name":"a","kind":"configmaps","causes":[{"message":"ValidatingAdmissionPolicy 'keep'`)
				}
				if name == "expression" {
					assert.Equal(t, strings.Replace(c.message, `"a"`, `"Unknown"`, 1), p.must(422, "DELETE", configMaps, "").message(t))
				}
				if name == "warns" {
					assert.Equal(t, `299 - "Validation failed for ValidatingAdmissionPolicy 'keep' with binding 'keep-all': failed expression: false"`, got.header.Get("Warning"))
				}
				p.must(201, "POST", configMaps, `{"metadata":{"name":"b"}}`) // another operation
			})
		})
	}
}
