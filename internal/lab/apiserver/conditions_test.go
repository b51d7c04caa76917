package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver"
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
		assert.Contains(t, p.must(500, "DELETE", configMaps+"/a", "").message(t), `failed calling webhook "deny.policy.io": `)
		p.must(200, "DELETE", webhookConfigurations+"/policy", "")

		assert.Equal(t, 403, patch())
		p.must(201, "POST", endpointSlices, `{"metadata":{"name":"d","labels":{"kubernetes.io/service-name":"deny"}},"addressType":"IPv4",
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
			"clientConfig":{"service":{"namespace":"default","name":"deny","path":"/check"}},
			"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps"]}]}]}`)
		refused := func(reason string) {
			t.Helper()
			assert.Equal(t, `Internal error occurred: failed calling webhook "deny.policy.io": failed to call webhook: `+
				`Post "https://deny.default.svc:443/check?timeout=10s": `+reason,
				p.must(500, "DELETE", configMaps+"/a", "").message(t))
		}
		refused(`service "deny" not found`)
		p.must(500, "DELETE", configMaps, "")
		p.must(201, "POST", services, `{"metadata":{"name":"deny"},"spec":{"ports":[{"port":443}]}}`)
		refused(`no endpoints available for service "deny"`)

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
			refused(`no endpoints available for service "deny"`)
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
		p.must(201, "POST", group+"validatingadmissionpolicies", `{"metadata":{"name":"keep"},"spec":{"matchConstraints":{"resourceRules":[
			{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["configmaps"]}]},
			"validations":[{"expression":"true"}]}}`)
		assert.Equal(t, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep-all' `+
			`denied request: archive it`,
			p.must(422, "DELETE", configMaps+"/a", "").message(t))
		p.must(200, "PATCH", configMaps+"/a", `{"metadata":{"annotations":{"example.com/archived":"yes"}}}`,
			"Content-Type", mergePatch)
		p.must(200, "DELETE", configMaps+"/a", "")
		p.must(200, "DELETE", group+"validatingadmissionpolicybindings/keep-all", "")
		p.must(200, "DELETE", configMaps+"/b", "")
	})
}

// The refusals have the words of kube-apiserver.
func TestFaultsOfReadsAndPolicies(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("a")
		p.configMap("b")
		const secrets = "/api/v1/namespaces/default/secrets"
		p.must(201, "POST", secrets, `{"metadata":{"name":"s"}}`)
		p.fault("policy-denies:verb=delete,name=a,policy=keep,binding=keep-all")
		p.fault("not-allowed:verb=delete|deletecollection,name=b")
		p.fault("unreadable:name=s")
		denied := p.must(422, "DELETE", configMaps+"/a", "")
		assert.Equal(t, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep-all' denied request: `+
			`failed expression: false`, denied.message(t))
		assert.Contains(t, denied.body, `"reason":"Invalid"`)
		assert.Contains(t, p.must(405, "DELETE", configMaps+"/b", "").body, `"reason":"MethodNotAllowed"`)

		assert.Equal(t, `Internal error occurred: unable to transform key "/registry/secrets/default/s": no matching prefix found`,
			p.must(500, "GET", "/api/v1/secrets", "").message(t))
		assert.Equal(t, `Internal error occurred: no matching prefix found`, p.must(500, "GET", secrets+"/s", "").message(t))
		p.must(500, "DELETE", secrets, "")
		p.must(200, "GET", "/api/v1/namespaces/kube-system/secrets", "")
		p.must(201, "POST", secrets, `{"metadata":{"name":"other"}}`)
		p.must(200, "GET", secrets+"/other", "")
	})
}

func TestAConversionThatFails(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		const tabs = "/apis/stable.example.com/v1/namespaces/default/crontabs"
		p.must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"crontabs.stable.example.com"},
			"spec":{"group":"stable.example.com","scope":"Namespaced","names":{"plural":"crontabs","kind":"CronTab"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
		p.must(201, "POST", tabs, `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"a"}}`)
		p.fault("conversion-fails:from=v1beta1,service=shop/converter,unless-ready=default/converter")
		failed := p.must(500, "DELETE", tabs, "")
		assert.Equal(t, `conversion webhook for stable.example.com/v1beta1, Kind=CronTab failed: `+
			`Post "https://converter.shop.svc:443/convert?timeout=30s": no endpoints available for service "converter"`, failed.message(t))
		assert.NotContains(t, failed.body, `"reason"`)
		p.must(500, "GET", tabs+"/a", "")
		p.must(200, "GET", configMaps, "") // built-in types have no webhook
	})
}

// A group may be stale in aggregated discovery while its server answers.
func TestStaleDiscovery(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.fault("stale-discovery:group=apps,version=v1")
		assert.Regexp(t, `"name":"apps"},"versions":\[{"version":"v1","resources":.*"freshness":"Stale"}\]}`, p.groups())
		assert.Contains(t, p.must(200, "GET", "/apis/apps/v1", "").body, "deployments")
		p.must(200, "GET", "/apis/apps/v1/deployments", "")
		assert.Equal(t, "True Local: Local APIServices are always available", p.available("v1.apps"))
	})
}

// keeps-creating fills a terminating namespace, with pauses.
func TestSomethingKeepsCreating(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.must(201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
		p.must(200, "DELETE", "/api/v1/namespaces/shop", "")
		p.fault("keeps-creating:namespace=shop,manager=gitops,every=5s,while=namespaces/shop")
		count := func() int {
			return strings.Count(p.must(200, "GET", "/api/v1/namespaces/shop/configmaps", "").body, `"name":"gitops-`)
		}
		assert.Equal(t, 1, count())
		time.Sleep(11 * time.Second)
		synctest.Wait()
		assert.Equal(t, 3, count())
		p.must(403, "POST", "/api/v1/namespaces/shop/configmaps", `{"metadata":{"name":"another"}}`)
		p.server.Faults().Remove("keeps-creating-1")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		assert.Equal(t, 3, count())
	})
}

// The kubelet stops the containers of a pod that stays, and removes it after the fault.
func TestAPodStays(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		time.Sleep(2 * time.Second)
		p.must(201, "POST", pods, `{"metadata":{"name":"web"},"spec":{"containers":[{"name":"a","image":"i"}]}}`)
		time.Sleep(2 * time.Second)
		p.fault("pod-stays:namespace=default,name=web")
		p.must(200, "DELETE", pods+"/web?gracePeriodSeconds=1", "")
		time.Sleep(10 * time.Second)
		left := p.must(200, "GET", pods+"/web", "").body
		assert.Contains(t, left, `"terminated":{`)
		assert.NotContains(t, left, `"running":{`)
		p.server.Faults().Remove("pod-stays-1")
		time.Sleep(2 * time.Second)
		p.must(404, "GET", pods+"/web", "")
	}, func(c *apiserver.Config) { c.NoKubelet = false })
}

// While the garbage collector is stopped, foreground deletion does not end.
func TestTheCollectorIsStopped(t *testing.T) {
	bubble(t, func(t *testing.T, p *piped) {
		p.configMap("owner")
		p.fault("collector-stopped")
		p.must(200, "DELETE", configMaps+"/owner?propagationPolicy=Foreground", "")
		time.Sleep(time.Minute)
		p.must(200, "GET", configMaps+"/owner", "")
		p.server.Faults().Remove("collector-stopped-1")
		time.Sleep(time.Minute)
		p.must(404, "GET", configMaps+"/owner", "")
	}, func(c *apiserver.Config) { c.NoCollector = false })
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
		unavailable(`False ServicePortError: service/metrics in "default" is not listening on port 443`)
		p.must(200, "PATCH", services+"/metrics", `{"spec":{"ports":[{"name":"https","port":443}]}}`,
			"Content-Type", mergePatch)
		unavailable(`False EndpointsNotFound: cannot find endpointslices for service/metrics in "default"`)
		p.must(201, "POST", endpointSlices, `{"metadata":{"name":"m",
			"labels":{"kubernetes.io/service-name":"metrics"}},"addressType":"IPv4",
			"endpoints":[{"addresses":["10.0.0.9"],"conditions":{"ready":false}}],
			"ports":[{"name":"https","port":6443}]}`)
		unavailable(`False MissingEndpoints: endpointslices for service/metrics in "default" ` +
			`have no addresses with port name "https"`)
		p.must(200, "PATCH", endpointSlices+"/m", `{"endpoints":[{"addresses":["10.0.0.9"],"conditions":{"ready":true}}]}`,
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
