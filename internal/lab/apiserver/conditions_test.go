package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	aggregatedGroups      = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	webhookConfigurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	apiServices           = "/apis/apiregistration.k8s.io/v1/apiservices"
	services              = "/api/v1/namespaces/default/services"
	endpointSlices        = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
)

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
	return p.must(200, "GET", "/apis", "", "Accept", aggregatedGroups).body
}

// A fault with while= ends with its object, and one with unless-ready= when the Service is ready.
func TestFaultsDependOnObjects(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		p.fault("webhook-unreachable:webhook=deny.policy.io,verb=delete,while=validatingwebhookconfigurations/policy")
		p.fault("webhook-denies:verb=patch,unless-ready=default/deny")
		p.fault("internal-error:resource=secrets,while=configmaps/default/a")
		p.fault("internal-error:resource=serviceaccounts,while=configmaps/nope")
		p.fault("forbid:verb=list,resource=pods,unless=configmaps/default/b")
		patch := func() int {
			return p.do("PATCH", configMaps+"/a", `{"data":{"x":"y"}}`, "Content-Type", mergePatch).code
		}

		p.must(200, "DELETE", configMaps+"/a?dryRun=All", "")
		p.must(201, "POST", webhookConfigurations, `{"metadata":{"name":"policy"}}`)
		assert.Contains(t, p.must(500, "DELETE", configMaps+"/a", "").message(t),
			`failed calling webhook "deny.policy.io": `)
		p.must(200, "DELETE", webhookConfigurations+"/policy", "")

		assert.Equal(t, 403, patch())
		p.must(201, "POST", endpointSlices,
			`{"metadata":{"name":"d","labels":{"kubernetes.io/service-name":"deny"}},"addressType":"IPv4",
			"endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"port":443}]}`)
		assert.Equal(t, 200, patch())

		p.must(403, "GET", "/api/v1/pods", "")
		p.configMap("b")
		p.must(200, "GET", "/api/v1/pods", "")

		p.must(500, "GET", "/api/v1/secrets", "")
		p.must(200, "GET", "/api/v1/serviceaccounts", "")
		p.must(200, "DELETE", configMaps+"/a", "")
		p.must(200, "GET", "/api/v1/secrets", "")
	})
}

// A fault of a stored configuration concerns the writes that this selects, in the words of
// kube-apiserver.
func TestFaultsOfStoredConfigurations(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		p.fault("webhook-unreachable:webhook=deny.policy.io,configuration=policy,unless-ready=default/deny")
		p.must(200, "DELETE", configMaps+"/a?dryRun=All", "")
		p.must(201, "POST", webhookConfigurations, `{"metadata":{"name":"policy"},"webhooks":[{
			"name":"deny.policy.io","sideEffects":"None","admissionReviewVersions":["v1"],
			"clientConfig":{"service":{"namespace":"default","name":"deny"}},
			"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps/*"]}]}]}`)
		refused := func() {
			t.Helper()
			assert.Equal(t,
				`Internal error occurred: failed calling webhook "deny.policy.io": failed to call webhook: `+
					`Post "https://deny.default.svc:443/?timeout=10s": service "deny" not found`,
				p.must(500, "DELETE", configMaps+"/a", "").message(t))
		}
		refused()
		p.must(500, "DELETE", configMaps, "")

		// Other operations and types do not concern it.
		p.must(200, "PATCH", configMaps+"/a", `{"data":{"x":"y"}}`, "Content-Type", mergePatch)
		p.must(201, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`)
		p.must(200, "DELETE", "/api/v1/namespaces/default/secrets/s", "")

		for _, field := range []string{
			`"failurePolicy":"Ignore"`,
			`"rules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],
				"resources":["configmaps/status"]}]`,
			`"namespaceSelector":{"matchExpressions":[
				{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["default"]}]}`,
		} {
			before := p.must(200, "GET", webhookConfigurations+"/policy", "").body
			var configuration struct {
				Webhooks []map[string]any `json:"webhooks"`
			}
			require.NoError(t, json.Unmarshal([]byte(before), &configuration))
			require.NoError(t, json.Unmarshal([]byte("{"+field+"}"), &configuration.Webhooks[0]))
			changed, err := json.Marshal(configuration)
			require.NoError(t, err)
			p.must(200, "PATCH", webhookConfigurations+"/policy", string(changed), "Content-Type", mergePatch)
			p.must(200, "DELETE", configMaps+"/a?dryRun=All", "")
			p.must(200, "DELETE", webhookConfigurations+"/policy", "")
			p.must(201, "POST", webhookConfigurations, strings.Replace(before, `"resourceVersion"`, `"x"`, 1))
			refused()
		}
	})
}

// A policy is in force while it and its binding exist. An object with the annotation satisfies it.
func TestAPolicyInForce(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		const group = "/apis/admissionregistration.k8s.io/v1/"
		p.configMap("a")
		p.configMap("b")
		p.fault(`policy-denies:policy=keep,binding=keep-all,configuration=keep-all,verb=delete,` +
			`unless-annotated=example.com/archived,message="archive it"`)
		p.must(200, "DELETE", configMaps+"/a?dryRun=All", "")
		p.must(201, "POST", group+"validatingadmissionpolicybindings", `{"metadata":{"name":"keep-all"},"spec":{
			"policyName":"keep","validationActions":["Deny"]}}`)
		p.must(200, "DELETE", configMaps+"/a?dryRun=All", "")
		p.must(201, "POST", group+"validatingadmissionpolicies",
			`{"metadata":{"name":"keep"},"spec":{"matchConstraints":{"resourceRules":[
			{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps"]}]},
			"validations":[{"expression":"true"}]}}`)
		assert.Equal(t, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep-all' `+
			`denied request: archive it`,
			p.must(422, "DELETE", configMaps+"/a", "").message(t))
		assert.Contains(t, p.must(422, "DELETE", configMaps, "").message(t), `configmaps "Unknown" is forbidden`)
		p.must(200, "PATCH", configMaps+"/a", `{"metadata":{"annotations":{"example.com/archived":"yes"}}}`,
			"Content-Type", mergePatch)
		p.must(200, "DELETE", configMaps+"/a", "")
		p.must(200, "DELETE", group+"validatingadmissionpolicybindings/keep-all", "")
		p.must(200, "DELETE", configMaps+"/b", "")
	})
}

// The condition Available of an APIService tells in the words of kube-aggregator why its server
// cannot be reached. The server in memory makes no requests to other servers.
func TestAnAPIServiceOfAnotherServer(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		const name, path = "v1.metrics.example.com", "/apis/metrics.example.com/v1"
		p.must(201, "POST", apiServices, `{"metadata":{"name":"`+name+`"},"spec":{
			"group":"metrics.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":10,
			"service":{"namespace":"default","name":"metrics"}}}`)
		unavailable := func(want string) {
			t.Helper()
			assert.Equal(t, want, p.available(name))
			assert.Equal(t, "service unavailable\n", p.must(503, "GET", path+"/nodes", "").body)
			assert.Contains(t, p.groups(),
				`{"metadata":{"name":"metrics.example.com"},"versions":[{"version":"v1","freshness":"Stale"}]}`)
		}
		unavailable(`False ServiceNotFound: service/metrics in "default" is not present`)
		p.must(201, "POST", services, `{"metadata":{"name":"metrics"},"spec":{"ports":[{"name":"https","port":8443}]}}`)
		const missing = `False MissingEndpoints: endpointslices for service/metrics in "default" have no addresses`
		unavailable(missing)
		p.must(201, "POST", endpointSlices, `{"metadata":{"name":"m",
			"labels":{"kubernetes.io/service-name":"metrics"}},"addressType":"IPv4",
			"endpoints":[{"addresses":["10.0.0.9"],"conditions":{"ready":false}}],
			"ports":[{"name":"https","port":6443}]}`)
		unavailable(missing)
		p.must(200, "PATCH", endpointSlices+"/m",
			`{"endpoints":[{"addresses":["10.0.0.9"],"conditions":{"ready":true}}]}`,
			"Content-Type", mergePatch)
		unavailable(`False FailedDiscoveryCheck: this server makes no requests to other servers; ` +
			`the fault broken-group plays one`)

		p.must(200, "DELETE", services+"/metrics", "")
		unavailable(`False ServiceNotFound: service/metrics in "default" is not present`)
		p.must(200, "DELETE", apiServices+"/"+name, "")
		assert.NotContains(t, p.groups(), "metrics.example.com")
		assert.Equal(t, 404, p.do("GET", path+"/nodes", "").code)
	})
}
