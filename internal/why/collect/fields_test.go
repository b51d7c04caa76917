package collect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
)

// What is read of an object, by the names that its fields have in the API.
func TestFields(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const condition = `"status":"False","reason":"R","lastTransitionTime":"2026-01-02T03:04:05Z"}]`
	assert.Equal(t, []why.APIService{{
		Name: "v1.g.io", GroupVersion: "g.io/v1",
		Service:   &why.Service{Namespace: "n", Name: "s"},
		Available: "False", Reason: "R", Since: at,
	}}, apiServiceOf(nil, decoded[apiService](t, `{"metadata":{"name":"v1.g.io"},
		"spec":{"group":"g.io","version":"v1","service":{"namespace":"n","name":"s"}},
		"status":{"conditions":[{"type":"Available",`+condition+`}}`)))
	assert.Equal(t, []why.Node{{Name: "n", Ready: "False", Since: at}}, nodeOf(nil, decoded[node](t,
		`{"metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready",`+condition+`}}`)))
	const client = `"webhook":{"clientConfig":{"service":{"namespace":"n","name":"s"}}}`
	for strategy, converter := range map[string]*why.Service{"Webhook": {Namespace: "n", Name: "s"}, "None": nil} {
		got := definitionOf(nil, decoded[definition](t, `{"metadata":{"name":"x.g.io"},
			"spec":{"names":{"kind":"X"},"conversion":{"strategy":"`+strategy+`",`+client+`}}}`))[0]
		assert.Equal(t, "x.g.io X", got.Type+" "+got.Kind)
		assert.Equal(t, converter, got.Converter.Service)
	}
}

// The expressions and the parameter of a policy, and what a webhook has by default.
func TestFieldsOfAdmission(t *testing.T) {
	for spec, want := range map[string]why.Policy{
		`{"validations":[{"expression":"true"}]}`:                              {},
		`{"validations":[{"expression":"authorizer.path('/').check('get')"}]}`: {Depends: true},
		`{"variables":[{"name":"a","expression":"authorizer"}]}`:               {Depends: true},
		`{"matchConditions":[{"name":"a","expression":"!authorizer"}]}`:        {Depends: true},
		`{"policyName":"p","paramRef":{"name":"q"}}`:                           {Of: "p", Binding: true, Depends: true},
		`{"policyName":"p","paramRef":{"selector":{"matchLabels":{"a":"b"}}}}`: {Of: "p", Binding: true, Depends: true},
		`{"matchConstraints":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}`: {
			NamespaceOnly: why.Selector{Labels: map[string]string{"a": "b"}}},
		`{"matchConstraints":{"namespaceSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`: {
			NamespaceOnly: why.Selector{Expressions: []why.Expression{{Key: "a", Operator: "Exists"}}},
		},
	} {
		assert.Equal(t, want, policyOf(nil, decoded[policy](t, `{"spec":`+spec+`}`))[0], spec)
	}
	c, _ := asking(t, listOf(`{"metadata":{"name":"guard"},"webhooks":[{
		"name":"w","clientConfig":{"service":{"namespace":"n","name":"s"}},
		"rules":[{"operations":["*"],"apiGroups":["g"],"resources":["r"]}],
		"namespaceSelector":{"matchLabels":{"a":"b"}}},
		{"name":"ignores","failurePolicy":"Ignore"}]}`))
	c.webhooks(t.Context())
	assert.Equal(t, why.Webhook{
		Resource: "validatingwebhookconfigurations", Configuration: "guard", Name: "w", FailurePolicy: "Fail",
		ClientConfig:  why.ClientConfig{Service: &why.Service{Namespace: "n", Name: "s"}},
		NamespaceOnly: why.Selector{Labels: map[string]string{"a": "b"}},
		Rules:         []why.Rule{{Operations: []string{"*"}, Groups: []string{"g"}, Resources: []string{"r"}}},
	}, c.evidence.Webhooks.Items[0])
	assert.Equal(t, "Ignore", c.evidence.Webhooks.Items[1].FailurePolicy)
}

// A held object is read in its namespace, and one that may not be read has no stamp.
func TestStampsOfObjects(t *testing.T) {
	held := []why.Held{{Type: &why.Type{Version: "v1", Resource: "configmaps"}, Object: why.Object{Name: "a"},
		Finalizer: "example.com/x"}}
	c, requests := asking(t, listOf(`{"metadata":{"name":"a"}}`))
	c.stamps(t.Context(), held)
	assert.Equal(t, []string{"GET /api/v1/namespaces/shop/configmaps metadata.name=a"}, *requests)
	assert.Len(t, c.evidence.Stamps, 1)
	c, _ = asking(t, `[]`)
	c.stamps(t.Context(), held)
	assert.Empty(t, c.evidence.Stamps)
}
