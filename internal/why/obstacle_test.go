package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page tests which webhook or policy a refusal is about, and whether it still holds.

// The Service in the text decides by its whole name and its namespace.
func TestTheServiceInARefusal(t *testing.T) {
	for text, configuration := range map[string]string{
		`Post "https://guard.other.svc:443/": dial tcp: connect: connection refused`: "other",
		`service "guard-2" not found`: "second",
	} {
		e := calling(text)
		for name, service := range map[string]why.Service{"other": {Namespace: "other", Name: "guard"}, "second": {Namespace: "guard", Name: "guard-2"}} {
			hook := e.Webhooks.Items[1]
			hook.Configuration, hook.Service = name, &service
			e.Webhooks.Items = append(e.Webhooks.Items, hook)
			e.Backends = append(e.Backends, why.Backend{Service: service, Request: "GET service"})
		}
		e.Backends[0].Exists, e.Backends[0].Ready = false, 0
		findings := why.Judge(e).Findings
		require.Len(t, findings, 1, text)
		assert.Equal(t, configuration, findings[0].Culprit.Name)
		assert.Equal(t, why.Proven, findings[0].Certainty, findings[0].Missing)
	}
}

// The error of a missing Service comes with the URL as well.
func TestAServiceThatIsBack(t *testing.T) {
	for _, text := range []string{`service "guard" not found`, `no endpoints available for service "guard"`} {
		assert.Nil(t, find(why.Judge(calling(`Post "https://guard.guard.svc:443/?timeout=10s": `+text)), "C07"), text)
	}
}

// An answer that is no review is an answer.
func TestAnInvalidResponse(t *testing.T) {
	e := says(calling(""), `Internal error occurred: failed calling webhook "b.example.com": received invalid webhook response: expected response.uid="x", got ""`)
	found := find(why.Judge(e), "C07")
	require.NotNil(t, found)
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)
	assert.Contains(t, found.Says, "the webhook b.example.com answers with an error")
}

// Pods that came after the condition may answer otherwise, until the second pass after that.
func TestAServerThatWasChangedSinceItsAnswer(t *testing.T) {
	e := calling("the server could not find the requested resource")
	for ago, certainty := range map[time.Duration]why.Certainty{30 * time.Second: why.Possible, 80 * time.Second: why.Possible, 3 * time.Minute: why.Proven} {
		e.Backends[0].Changed = at.Add(-ago)
		assert.Equal(t, certainty, find(why.Judge(e), "C07").Certainty, ago)
	}
}

// Times of managedFields have whole seconds: of two in the same one, either may be the later.
func TestAConditionOfTheSameSecond(t *testing.T) {
	e := unreachable()
	e.Webhooks.Items[1].Changed = at.Add(-30 * time.Second)
	e.Second.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(-30 * time.Second)}}
	assert.Equal(t, why.Possible, find(why.Judge(e), "C07").Certainty)
}

// Only the objects count that the policy protects.
func TestAnotherObjectThatWasChanged(t *testing.T) {
	e := denied()
	other := object("s")
	other.Changed = at.Add(-30 * time.Second)
	e.Types = append(e.Types, typeOf("", "services", other))
	found := find(why.Judge(e), "C08")
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)
}

// A Service that may not be read is not one that does not exist.
func TestAServiceThatCannotBeRead(t *testing.T) {
	e := unreachable()
	e.Backends[0].Failed = &why.Failure{Code: 403, Message: "no", Right: "list services"}
	found := find(why.Judge(e), "C07")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Missing, "Service guard/guard could not be read: no")
	assert.Equal(t, "bring the pods behind Service guard/guard back", found.Do[0])
}

// The message of a policy may quote a webhook as well.
func TestAWebhookThatAPolicyQuotes(t *testing.T) {
	e := says(unreachable(), `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'x' with binding 'y' denied request: sorry, `+
		`Internal error occurred: failed calling webhook "b.example.com": no service`)
	e.Webhooks.Items[1].Narrowed = true
	assert.Equal(t, why.Possible, find(why.Judge(e), "C07").Certainty)
}

// A policy or binding that was removed since denies nothing.
func TestAPolicyThatWasRemoved(t *testing.T) {
	for i := range 2 {
		e := denied()
		e.Policies.Items = e.Policies.Items[i : i+1]
		assert.Nil(t, find(why.Judge(e), "C08"), i)
	}
}

// Configurations of both kinds often have one name.
func TestConfigurationsOfBothKindsWithOneName(t *testing.T) {
	e := unreachable()
	e.Types[0].Objects[0] = object("a", "example.com/x")
	mutating := e.Webhooks.Items[0]
	mutating.Resource, mutating.Name = "mutatingwebhookconfigurations", "m.example.com"
	mutating.Rules = []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{""}, Resources: []string{"configmaps"}}}
	e.Webhooks.Items = append(e.Webhooks.Items, mutating)
	var culprits []string
	for _, f := range why.Judge(e).Findings {
		if f.ID == "C07" {
			culprits = append(culprits, f.Culprit.Resource)
		}
	}
	assert.Equal(t, []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}, culprits)
}

// A webhook at a URL was not called, and nothing says that it is down.
func TestAWebhookWithAURLThatNothingBlames(t *testing.T) {
	e := held(workload("deployment", "ops", "queue-operator", 1))
	hook := unreachable().Webhooks.Items[0]
	hook.Service, hook.URL = nil, "https://10.0.0.1/"
	hook.Rules = []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{"*"}, Resources: []string{"*"}}}
	e.Webhooks = answered("GET webhooks", hook)
	assert.False(t, e.MayKeep(hook))
	assert.Nil(t, find(why.Judge(e), "C07"))
}

// The binding of another policy does not bind this one.
func TestABindingOfAnotherPolicy(t *testing.T) {
	e := calm(evidence(terminating("", "")))
	rules := []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{""}, Resources: []string{"namespaces/finalize"}}}
	e.Policies = answered("GET policies", why.Policy{Name: "p", Rules: rules}, why.Policy{Name: "q"}, why.Policy{Name: "b", Binding: true, Of: "q"})
	assert.Nil(t, find(why.Judge(e), "C08"))
}

// A webhook that the namespace is excluded from since is not the obstacle any more.
func TestAWebhookThatExcludesTheNamespace(t *testing.T) {
	e := unreachable()
	e.Webhooks.Items[1].NamespaceOnly.Labels = map[string]string{"a": "b"}
	assert.Nil(t, find(why.Judge(e), "C07"))
	assert.Nil(t, find(why.Judge(says(e, `admission webhook "b.example.com" denied the request: no`)), "C08"))
}
