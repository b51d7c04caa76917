package why_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page tests what the words of the condition ContentFailure prove.

// says replaces the text of a namespace's ContentFailure, in both samples.
func says(e why.Evidence, text string) why.Evidence {
	e.Namespace = terminating(contentFailure, "Failed to delete all resource types, 1 remaining: "+text)
	again, second := *e.Namespace, *e.Second
	second.Namespace = &again
	e.Second = &second
	return e
}

// The message of a webhook or a policy may quote the words with which the server reports another
// refusal.
func TestQuotedWords(t *testing.T) {
	const calls, denies = `failed calling webhook "b.example.com": no service`, `admission webhook "b.example.com" denied the request: no`
	const policy = `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`
	const converts = `conversion webhook for g.io/v1, Kind=Thing failed: no`
	for text, ids := range map[string][]string{
		`admission webhook "x.io" denied the request: ` + calls:                                                      nil,
		`admission webhook "x.io" denied the request: ` + policy:                                                     nil,
		`a is forbidden: ValidatingAdmissionPolicy 'x' with binding 'y' denied request: see ` + calls + `, ` + calls: nil,
		`a is forbidden: ValidatingAdmissionPolicy 'x' with binding 'y' denied request: ` + denies:                   nil,
		`admission webhook "x.io" denied the request: ` + converts:                                                   nil,
		`Internal error occurred: ` + calls:                                                                          {"C07"},
		denies:                                                                                                       {"C08"},
		`a is forbidden: ` + policy:                                                                                  {"C08"},
		converts:                                                                                                     {"C09"},
	} {
		e := unreachable()
		conversion := situations()["C09"].proven
		e.Policies, e.Definitions = denied().Policies, conversion.Definitions
		e.Definitions.Items[0].Kind = "Thing"
		e.Backends = append(e.Backends, conversion.Backends...)
		e.Namespace = terminating(contentFailure, "Failed to delete all resource types, 1 remaining: "+text)
		again := *e.Namespace
		e.Second.Namespace = &again
		var found []string
		for _, f := range why.Judge(e).Findings {
			found = append(found, f.ID)
		}
		assert.Equal(t, ids, found, text)
	}
}

// If several configurations have a webhook of the name that the condition has, the Service in the
// text decides; if they have that in common too, nothing does.
func TestConfigurationsWithOneNameAndServer(t *testing.T) {
	e := unreachable()
	e.Namespace = terminating(contentFailure, `Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: service "guard" not found`)
	again := *e.Namespace
	e.Second.Namespace = &again
	other := e.Webhooks.Items[1]
	other.Configuration, other.Service = "other", &why.Service{Namespace: "guard", Name: "other"}
	e.Webhooks.Items = append(e.Webhooks.Items, other)
	e.Backends = append(e.Backends, why.Backend{Service: *other.Service, Request: "GET service"})
	found := find(why.Judge(e), "C07")
	assert.Equal(t, []any{"guard", why.Proven}, []any{found.Culprit.Name, found.Certainty})
	assert.Len(t, why.Judge(e).Findings, 1)

	e.Webhooks.Items[2].Service = e.Webhooks.Items[1].Service
	require.Len(t, why.Judge(e).Findings, 2)
	for _, f := range why.Judge(e).Findings {
		assert.Equal(t, why.Possible, f.Certainty)
		assert.Equal(t, []string{"2 configurations have a webhook of that name whose server cannot be reached"}, f.Missing)
	}
}

// A webhook with an objectSelector or matchConditions may not be asked about the object at all:
// then its name in the message of a denial proves nothing.
func TestAQuotedWebhookThatIsNotAskedAboutEachObject(t *testing.T) {
	const quotes = `admission webhook "x.io" denied the request: sorry, Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: Post "https://guard.guard.svc:443/"`
	e := says(unreachable(), quotes)
	assert.Equal(t, why.Proven, find(why.Judge(e), "C07").Certainty)
	e.Webhooks.Items[1].Narrowed = true
	found := find(why.Judge(e), "C07")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"the webhook is not asked about every object, and the message of a denial may quote these words"}, found.Missing)
	assert.Equal(t, why.Proven, find(why.Judge(says(e, `Internal error occurred: failed calling webhook "b.example.com": no service`)), "C07").Certainty, "nothing is quoted")
}

// A server at a URL is recognized by it, and an error as its answer is a proof.
func TestTheURLInARefusal(t *testing.T) {
	e := says(unreachable(), `Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: Post "https://10.0.0.1:8443/check?timeout=10s": EOF`)
	for i, url := range []string{"https://10.0.0.1:8443/other", "https://10.0.0.1:8443/check"} {
		e.Webhooks.Items[i].Name, e.Webhooks.Items[i].Service, e.Webhooks.Items[i].URL = "b.example.com", nil, url
		e.Webhooks.Items[i].Configuration = url
	}
	findings := why.Judge(e).Findings
	require.Len(t, findings, 1)
	assert.Equal(t, "https://10.0.0.1:8443/check", findings[0].Culprit.Name)
	assert.Equal(t, why.Proven, findings[0].Certainty, findings[0].Missing)

	e = says(unreachable(), `Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: the server could not find the requested resource`)
	e.Webhooks.Items[1].Service, e.Webhooks.Items[1].URL = nil, "https://10.0.0.1:8443/check"
	found := find(why.Judge(e), "C07")
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)
	assert.Contains(t, found.Says, "the webhook b.example.com answers with an error")
	assert.Contains(t, found.Do[0], "read the log of the server at https://10.0.0.1:8443/check")
	assert.Equal(t, "if that is done already: wait for the controller's next pass, which comes within 1m0s", found.Do[1])
}

// What a policy is short of is not what it asks for.
func TestAPolicyThatCannotDecide(t *testing.T) {
	for text, do := range map[string]string{
		`with binding 'b' denied request: failed to configure binding: no params found for policy binding with`: "restore the parameter object of binding b; if it was in shop, where nothing can be created any more: exclude shop by spec.matchResources of the binding, and remove the exclusion when shop is gone",
		`with binding 'b' denied request: expression 'object.x' resulted in error: no such key: x`:              "correct policy p: it cannot decide, and then denies",
		`denied request: failed to configure policy: paramKind kind 'g.io/v1, Kind=Limit' not known`:            "correct policy p: it cannot decide, and then denies",
		`with binding 'b' denied request: annotate it first`:                                                    "do what the policy asks for: annotate it first",
	} {
		found := find(why.Judge(says(denied(), `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' `+text)), "C08")
		require.NotNil(t, found, text)
		assert.Equal(t, why.Proven, found.Certainty)
		assert.Equal(t, []string{do, "if that is done already: wait for the controller's next pass, which comes within 1m0s"}, found.Do)
	}
}

// A policy with several reasons asks for all of them.
func TestAPolicyWithTwoReasons(t *testing.T) {
	const deny = `is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `
	e := says(denied(), `configmaps "a" `+deny+`annotate it first, configmaps "b" `+deny+`empty it, the server says so, configmaps "c" `+deny+`annotate it first`)
	found := find(why.Judge(e), "C08")
	require.NotNil(t, found)
	assert.Len(t, why.Judge(e).Findings, 1)
	assert.Equal(t, []string{"do what the policy asks for: empty it, the server says so", "do what the policy asks for: annotate it first",
		"if that is done already: wait for the controller's next pass, which comes within 1m0s"}, found.Do)
}

// A refusal of no known kind is quoted.
func TestAnUnknownRefusal(t *testing.T) {
	e := says(evidence(terminating("", ""), typeOf("", "configmaps", object("a"))), `configmaps "a" is forbidden: quota of deletions exceeded`)
	report := why.Judge(e)
	assert.Empty(t, report.Findings)
	assert.Contains(t, report.Sentence, `no known cause is proven. ContentFailure says "Failed to delete all resource types, 1 remaining: configmaps \"a\" is forbidden: quota of deletions exceeded".`)
}

// A group's own server refuses: that is no right that this user lacks in kube-apiserver.
func TestAnAggregatedServerThatRefusesByItself(t *testing.T) {
	aggregated := func(code int, message, content string) why.Evidence {
		things := typeOf("things.example.com", "things")
		things.Failed = &why.Failure{Request: "GET things", Code: code, Message: message,
			Right: "list things.things.example.com"}
		e := evidence(terminating(contentFailure, content), things, typeOf("", "configmaps"))
		e.APIServices = answered("GET apiservices", why.APIService{
			Name: "v1.things.example.com", GroupVersion: "things.example.com/v1", Available: "True", Service: &why.Service{Namespace: "ops", Name: "things"},
		})
		return e
	}
	const own = "tenant shop is suspended"
	for code, name := range map[int]string{403: "refuses", 503: "is overloaded", 504: "waits for another"} {
		report := why.Judge(aggregated(code, own, own))
		found := find(report, "C22")
		require.NotNil(t, found, name)
		assert.Equal(t, why.Proven, found.Certainty, found.Missing)
		assert.Equal(t, why.Reference{Resource: "apiservices.apiregistration.k8s.io", Name: "v1.things.example.com"},
			found.Culprit)
		assert.Contains(t, found.Says, "behind Service ops/things, refuses to list them itself")
		assert.Nil(t, find(report, "C30"), "%s: no right is missing", name)
	}
	assert.Equal(t, why.Possible, find(why.Judge(aggregated(403, own, "something else")), "C22").Certainty,
		"the controller was not refused so")
	const rbac = `things.things.example.com is forbidden: User "jane" cannot list resource "things" in API group "things.example.com" in the namespace "shop"`
	report := why.Judge(aggregated(403, rbac, ""))
	assert.Nil(t, find(report, "C22"))
	require.NotNil(t, find(report, "C30"), "kube-apiserver refuses this user")
}
