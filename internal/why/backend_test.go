package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests what shows that the server of a webhook cannot be called.

// calling is unreachable with another error of the call. Its Service has a port and an endpoint.
func calling(text string) why.Evidence {
	e := unreachable()
	message := `Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: ` + text
	e.Namespace = terminating(contentFailure, message)
	again := *e.Namespace
	e.Second.Namespace = &again
	e.Backends[0] = why.Backend{Service: e.Backends[0].Service, Request: "GET slices", Exists: true, Ready: 1, Ports: []string{"443"}}
	e.Webhooks.Items = slices.Clone(e.Webhooks.Items)
	return e
}

// The error of a call is a proof although the Service has a ready endpoint.
func TestAServiceThatIsNotReached(t *testing.T) {
	const call = `Post "https://guard.guard.svc:443/?timeout=10s": `
	noEndpoint := calling(`no service port 9443 found for service "guard"`)
	noEndpoint.Backends[0].Ready = 0
	hasPort := calling(`no service port 9443 found for service "guard"`)
	hasPort.Backends[0].Ports = []string{"443", "9443"}
	for name, test := range map[string]struct {
		evidence why.Evidence
		proof    string // "": not named
		do       string
	}{
		"a wrong port": {
			calling(`no service port 9443 found for service "guard"`), "Service guard/guard exists, and has no port 9443",
			"correct the port of the webhook in validatingwebhookconfigurations guard, or give Service guard/guard the port 9443",
		},
		"a wrong port without an endpoint": {
			noEndpoint, "Service guard/guard has no ready endpoint", "the port 9443; and bring the pods behind Service guard/guard back",
		},
		"the port is there now": {hasPort, "", ""},
		"no connection": {
			calling(call + "dial tcp 10.0.0.1:443: connect: connection refused"), "Service guard/guard has 1 ready endpoint, and is not reached",
			"find out why the API server does not reach the pods of Service guard/guard",
		},
		"an error as its answer": {
			calling("the server could not find the requested resource"), "Service guard/guard has 1 ready endpoint, and its answer is an error",
			"read the log of the pods of Service guard/guard, or correct the path of the webhook in validatingwebhookconfigurations guard",
		},
		"no answer": {
			calling(call + "context deadline exceeded"), "Service guard/guard has 1 ready endpoint, and does not answer in time",
			"find out why the pods of Service guard/guard do not answer in time",
		},
		"it is back":    {calling(`no endpoints available for service "guard"`), "", ""},
		"a certificate": {calling(call + "tls: x509: certificate is not valid"), "x509", "repair the certificate of Service guard/guard"},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(why.Judge(test.evidence), "C07")
			require.Equal(t, test.proof != "", found != nil)
			if found == nil {
				return
			}
			assert.Equal(t, why.Proven, found.Certainty, found.Missing)
			var proof []string
			for _, p := range found.Proof {
				proof = append(proof, p.Says)
			}
			assert.Contains(t, strings.Join(proof, "; "), test.proof)
			assert.Contains(t, found.Do[0], test.do)
		})
	}
}

// A Service of type ExternalName has no endpoints: only the error of a call shows that its host is
// down.
func TestAServiceThatStandsForAHost(t *testing.T) {
	for text, certainty := range map[string]why.Certainty{
		`Post "https://guard.guard.svc:443/": dial tcp: connect: connection refused`: why.Proven,
		"the server could not find the requested resource":                           why.Proven,
		`service "guard" not found`:                                                  why.Possible,
	} {
		e := calling(text)
		e.Backends[0].Ready, e.Backends[0].External = 0, "guard.example.com"
		found := find(why.Judge(e), "C07")
		require.NotNil(t, found, text)
		assert.Equal(t, certainty, found.Certainty, text)
		assert.Equal(t, "bring guard.example.com back, for which Service guard/guard stands", found.Do[0])
	}
}

// A webhook without a server that is asked about updates keeps the finalizers of others.
func TestAWebhookThatKeepsFinalizers(t *testing.T) {
	e := calm(held(workload("deployment", "ops", "keda-operator", 1)))
	hook := unreachable().Webhooks.Items[0]
	hook.Rules = []why.Rule{{Operations: []string{"CREATE", "UPDATE"}, Groups: []string{"keda.sh"}, Resources: []string{"scaledobjects"}}}
	e.Webhooks, e.Backends = answered("GET webhooks", hook), unreachable().Backends
	assert.True(t, e.MayKeep(hook), "its Service is read")
	found := find(why.Judge(e), "C07")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, why.Reference{Resource: "validatingwebhookconfigurations", Name: "guard"}, found.Culprit)
	assert.Equal(t, "the webhook a.example.com cannot be reached, so finalizer.keda.sh cannot be removed from scaledobjects.keda.sh", found.Says)

	for name, change := range map[string]func(*why.Webhook){
		"it is ignored":             func(h *why.Webhook) { h.FailurePolicy = "Ignore" },
		"it is about another type":  func(h *why.Webhook) { h.Rules[0].Resources = []string{"topics"} },
		"it is about deletions":     func(h *why.Webhook) { h.Rules[0].Operations = []string{"DELETE"} },
		"it excludes the namespace": func(h *why.Webhook) { h.NamespaceOnly.Labels = map[string]string{"a": "b"} },
	} {
		changed := hook
		changed.Rules = slices.Clone(hook.Rules)
		change(&changed)
		e.Webhooks.Items = []why.Webhook{changed}
		assert.Nil(t, find(why.Judge(e), "C07"), name)
		assert.False(t, e.MayKeep(changed), name)
	}
	e.Webhooks.Items = []why.Webhook{hook}
	e.Backends[0].Exists, e.Backends[0].Ready = true, 1
	assert.Nil(t, find(why.Judge(e), "C07"), "its server is there")
}

// A wrong certificate has the same advice for a URL and for a Service.
func TestAWebhookWithAURL(t *testing.T) {
	e := calling(`Post "https://10.0.0.1:1/": tls: failed to verify certificate: x509: unknown authority`)
	for i := range e.Webhooks.Items {
		e.Webhooks.Items[i].Service, e.Webhooks.Items[i].URL = nil, "https://10.0.0.1:1/"
	}
	found := find(why.Judge(e), "C07")
	require.NotNil(t, found)
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)
	assert.Equal(t, "repair the certificate of the server at https://10.0.0.1:1/, or the caBundle of validatingwebhookconfigurations guard", found.Do[0])
}

// The error of a call shows that a conversion webhook is down, in the answer to a list and in the
// condition of a namespace without such objects.
func TestAConversionWebhookThatIsNotReached(t *testing.T) {
	const refused = `conversion webhook for g.io/v1, Kind=Thing failed: Post "https://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`
	const untrusted = `storage is (re)initializing: failed to list g.io/v2, Kind=Thing: conversion webhook for g.io/v1, Kind=Thing failed: Post: x509: unknown authority`
	atURL := func(d *why.Definition) { d.Converter, d.ConverterURL = nil, "https://127.0.0.1:1/" }
	asService := func(*why.Definition) {}
	for name, test := range map[string]struct {
		text  string
		where func(*why.Definition)
		do    string
	}{
		"a URL":                         {refused, atURL, "bring the server at https://127.0.0.1:1/ back, or correct the URL in CustomResourceDefinition things.g.io"},
		"a Service":                     {refused, asService, "find out why the API server does not reach the pods of Service a/b"},
		"a certificate":                 {untrusted, asService, "repair the certificate of Service a/b, or the caBundle of CustomResourceDefinition things.g.io"},
		"a URL and a wrong certificate": {untrusted, atURL, "repair the certificate of the server at https://127.0.0.1:1/, or the caBundle of"},
	} {
		t.Run(name, func(t *testing.T) {
			e := situations()["C09"].proven
			e.Backends = []why.Backend{{Service: why.Service{Namespace: "a", Name: "b"}, Request: "GET service", Exists: true, Ready: 1}}
			e.Definitions.Items[0].Kind = "Thing"
			test.where(&e.Definitions.Items[0])
			judged := func(by string) *why.Finding {
				found := find(why.Judge(e), "C09")
				require.NotNil(t, found, by)
				assert.Equal(t, why.Proven, found.Certainty, found.Missing)
				assert.Contains(t, found.Do[0], test.do, by)
				assert.True(t, slices.ContainsFunc(found.Remedies, func(r why.Remedy) bool { return strings.Contains(r.Command, `"strategy":"None"`) }), by)
				return found
			}
			e.Types[0].Failed = &why.Failure{Request: "GET things", Code: 500, Message: test.text}
			judged("the list")

			e.Types[0].Failed = nil
			e.Namespace = terminating(contentFailure, "Failed to delete all resource types, 1 remaining: "+test.text)
			again := *e.Namespace
			e.Second.Namespace = &again
			judged("the condition")

			e.Types[0].Count = 1
			found := find(why.Judge(e), "C09")
			require.NotNil(t, found)
			assert.Contains(t, found.Missing, "the list of things.g.io works now")

			e.Namespace, e.Second.Namespace, e.Types[0].Count = terminating("", ""), terminating("", ""), 0
			e.Elsewhere = answered("GET namespaces", why.ConditionsWrite{Namespace: "other", At: deleted.Add(-time.Minute), Failure: test.text})
			found = find(why.Judge(e), "C09")
			require.NotNil(t, found, "the condition of another namespace")
			assert.Equal(t, []string{"shop itself has no condition yet"}, found.Missing)
			assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty)
			assert.True(t, e.BlamesConversion(), "the CustomResourceDefinition is read")
		})
	}
}

// A list may fail for another reason than the conversion.
func TestAListThatFailsWithoutAWordOfConversion(t *testing.T) {
	e := situations()["C09"].proven
	e.Types[0].Failed = &why.Failure{Request: "GET things", Code: 429, Message: "storage is (re)initializing: failed to list g.io/v1, Kind=Thing: etcd: connection refused"}
	require.NotNil(t, find(why.Judge(e), "C09"), "its webhook has no server")
	e.Backends = []why.Backend{{Service: why.Service{Namespace: "a", Name: "b"}, Request: "GET service", Exists: true, Ready: 1}}
	assert.Nil(t, find(why.Judge(e), "C09"))
	e.Definitions.Items[0].Converter = nil
	assert.Nil(t, find(why.Judge(e), "C09"))
	e.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionTrue, Message: e.Types[0].Failed.Message}}
	e.Second = nil
	assert.Nil(t, find(why.Judge(e), "C09"))
}

// One exclusion is for all webhooks of a configuration that one dead server answers.
func TestAnExclusionFromAllWebhooksOfAServer(t *testing.T) {
	e := calling(`no endpoints available for service "guard"`)
	e.Backends[0].Ready = 0
	hook := e.Webhooks.Items[len(e.Webhooks.Items)-1]
	second, elsewhere := hook, hook
	second.Name, elsewhere.Name, elsewhere.Service = "second.example.com", "elsewhere.example.com", &why.Service{Namespace: "a", Name: "b"}
	e.Webhooks.Items = append(e.Webhooks.Items, second, elsewhere)
	_, lines := advice(t, e, "C07")
	assert.Regexp(t, `select\(\.name \| IN\("[^)]*", "second\.example\.com"\)\)`, lines)
	assert.NotContains(t, lines, "elsewhere.example.com", "its server is another one")
}
