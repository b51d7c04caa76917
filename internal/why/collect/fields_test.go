package collect

import (
	"strings"
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
	for conversion, converter := range map[string]why.ClientConfig{
		`"Webhook","webhook":{"clientConfig":{"service":{"namespace":"n","name":"s"}}}`: {
			Service: &why.Service{Namespace: "n", Name: "s"}},
		`"Webhook","webhook":{"clientConfig":{"url":"https://10.0.0.2/"}}`:           {URL: "https://10.0.0.2/"},
		`"None","webhook":{"clientConfig":{"service":{"namespace":"n","name":"s"}}}`: {},
	} {
		got := definitionOf(nil, decoded[definition](t, `{`+strings.Replace(writtenAt, `""`, `"x.g.io"`, 1)+`,
			"spec":{"names":{"kind":"X"},"conversion":{"strategy":`+conversion+`}}}`))[0]
		assert.Equal(t, []any{"x.g.io", "X", converter, written}, []any{got.Type, got.Kind, got.Converter, got.Changed})
	}
}

// The expressions and the parameter of a policy.
func TestFieldsOfPolicies(t *testing.T) {
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
		want.Changed = written
		assert.Equal(t, want, policyOf(nil, decoded[policy](t, `{`+writtenAt+`,"spec":`+spec+`}`))[0], spec)
	}
}

// written is when an object was last written, which shows whether the controller has met it as it
// is.
var written = time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)

const writtenAt = `"metadata":{"name":"","managedFields":[{"manager":"m","time":"2026-01-02T03:05:00Z"}]}`

// Both kinds of configurations are read. A webhook is narrowed by its objectSelector or by
// matchConditions.
func TestFieldsOfWebhooks(t *testing.T) {
	c, _ := asking(t, listOf(`{`+writtenAt+`,"webhooks":[
		{"name":"w","clientConfig":{"service":{"namespace":"n","name":"s"}},
			"rules":[{"operations":["*"],"apiGroups":["g"],"resources":["r"]}],
			"namespaceSelector":{"matchLabels":{"a":"b"}}},
		{"name":"url","failurePolicy":"Ignore","clientConfig":{"url":"https://10.0.0.1/"},"objectSelector":{}},
		{"name":"labels","objectSelector":{"matchLabels":{"a":"b"}}},
		{"name":"conditions","matchConditions":[{"name":"x","expression":"true"}]}]}`))
	c.webhooks(t.Context())
	var want []why.Webhook
	for _, resource := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		for _, w := range []why.Webhook{{
			Name: "w", FailurePolicy: "Fail",
			ClientConfig:  why.ClientConfig{Service: &why.Service{Namespace: "n", Name: "s"}},
			NamespaceOnly: why.Selector{Labels: map[string]string{"a": "b"}},
			Rules:         []why.Rule{{Operations: []string{"*"}, Groups: []string{"g"}, Resources: []string{"r"}}},
		},
			{Name: "url", FailurePolicy: "Ignore", ClientConfig: why.ClientConfig{URL: "https://10.0.0.1/"}},
			{Name: "labels", FailurePolicy: "Fail", Narrowed: true},
			{Name: "conditions", FailurePolicy: "Fail", Narrowed: true},
		} {
			w.Resource, w.Changed = resource, written
			want = append(want, w)
		}
	}
	assert.Equal(t, want, c.evidence.Webhooks.Items)
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
