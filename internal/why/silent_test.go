package why_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests what no condition reports: an absent controller, and the refusal of some
// requests.

// A controller that is busy with other namespaces is not proven to be absent.
func TestAControllerThatIsBusyElsewhere(t *testing.T) {
	e := evidence(terminating("", ""))
	e.Elsewhere = answered("GET namespaces", why.ConditionsWrite{Namespace: "old", At: deleted.Add(-time.Minute)})
	found := find(why.Judge(e), "C19")
	assert.Equal(t, "otherwise read the controller's log: it says what refuses or delays its requests", found.Do[1])
	assert.Equal(t, why.Possible, found.Certainty, "it may repeat itself there: the server drops an update that changes nothing")
	assert.Contains(t, found.Missing[0], "the conditions of 1 other terminating namespace")
	off := e
	off.Leases = answered[why.Lease]("GET leases")
	off.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace"})
	assert.Equal(t, why.Proven, find(why.Judge(off), "C19").Certainty, "it is switched off since")
	e.Managers = answered[why.Manager]("GET pods")
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a", Renewed: deleted.Add(-time.Minute), Duration: 15 * time.Second})
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty, "its Lease has expired since")
	e.Leases.Items[0].Renewed = deleted.Add(-time.Hour)
	assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty, "it wrote without the Lease")
	e.Elsewhere.Items = append(e.Elsewhere.Items, why.ConditionsWrite{Namespace: "busy", At: deleted.Add(time.Minute)})
	found = find(why.Judge(e), "C19")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Missing[0], "busy")
	assert.Equal(t, "a namespace controller is at work, and has written nothing here", found.Says)
	assert.Equal(t, []string{"read the controller's log: it says what refuses or delays its requests"}, found.Do)
	e.Elsewhere = why.Answer[why.ConditionsWrite]{Request: "GET namespaces", Failed: &why.Failure{Code: 403, Right: "list namespaces"}}
	assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty)
}

// A controller that is off stays off while another program writes annotations.
func TestAnAbsentControllerOfAnAnnotatedNamespace(t *testing.T) {
	e := withManagers(why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace"})
	e.Second.Namespace.ResourceVersion = "8"
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Second.Namespace.Conditions = nil
	assert.Nil(t, find(why.Judge(e), "C19"), "a controller wrote the conditions")
}

// No condition reports that the last request, which removes the token, is refused.
func TestAWebhookThatIsAskedToFinalize(t *testing.T) {
	e := calm(evidence(terminating("", "")))
	rule := func(operation, resource string) []why.Rule {
		return []why.Rule{{Operations: []string{operation}, Groups: []string{"*"}, Resources: []string{resource}}}
	}
	hook := why.Webhook{
		Resource: "validatingwebhookconfigurations", Configuration: "guard", Name: "guard.io", FailurePolicy: "Fail",
		Service: &why.Service{Namespace: "guard", Name: "guard"}, Rules: rule("UPDATE", "namespaces/finalize"),
	}
	down := why.Backend{Service: *hook.Service, Request: "GET service"}
	up := why.Backend{Service: *hook.Service, Request: "GET service", Exists: true, Ready: 1}
	for name, test := range map[string]struct {
		change func(*why.Evidence, *why.Webhook)
		named  bool
	}{
		"it has no server":             {func(*why.Evidence, *why.Webhook) {}, true},
		"it is asked about everything": {func(_ *why.Evidence, h *why.Webhook) { h.Rules = rule("*", "*/*") }, true},
		"it is asked to finalize all":  {func(_ *why.Evidence, h *why.Webhook) { h.Rules = rule("UPDATE", "*/finalize") }, true},
		"the deletion is young": {func(e *why.Evidence, _ *why.Webhook) {
			e.At, e.Second.At = deleted.Add(time.Second), deleted.Add(11*time.Second)
		}, false},
		"its server is up":             {func(e *why.Evidence, _ *why.Webhook) { e.Backends[0] = up }, false},
		"it is asked about namespaces": {func(_ *why.Evidence, h *why.Webhook) { h.Rules = rule("UPDATE", "namespaces") }, false},
		"it is asked about deletions":  {func(_ *why.Evidence, h *why.Webhook) { h.Rules = rule("DELETE", "*/*") }, false},
		"its failures are ignored":     {func(_ *why.Evidence, h *why.Webhook) { h.FailurePolicy = "Ignore" }, false},
		"it has another selector":      {func(_ *why.Evidence, h *why.Webhook) { h.NamespaceOnly.Labels = map[string]string{"a": "b"} }, false},
		"an object is left":            {func(e *why.Evidence, _ *why.Webhook) { e.Types[0].Count = 1 }, false},
		"the token is gone":            {func(e *why.Evidence, _ *why.Webhook) { e.Second.Namespace.SpecFinalizers = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, h := e, hook
			e.Types, e.Backends = slices.Clone(e.Types), []why.Backend{down}
			second := *e.Second
			namespace := *second.Namespace
			second.Namespace, e.Second = &namespace, &second
			test.change(&e, &h)
			e.Webhooks = answered("GET webhooks", h)
			found := find(why.Judge(e), "C07")
			require.Equal(t, test.named, found != nil)
			if test.named {
				assert.Equal(t, why.Possible, found.Certainty)
				assert.Equal(t, "guard", found.Culprit.Name)
				assert.Contains(t, found.Says, "the token of the empty namespace cannot be removed")
				assert.True(t, e.MayKeep(h), "its Service is read")
			}
		})
	}
}

// A controller that deletes is there, also if nothing lets it write a condition.
func TestAControllerThatDeletesSilently(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a", "example.com/x")))
	found := find(why.Judge(e), "C19")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Missing[0], "configmaps/a has been terminating since")

	e.Types[0].Objects[0].Deleted = deleted.Add(-time.Second)
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty, "it was deleted before the namespace")
	e.Types[0].Objects[0].Deleted = deleted
	e.Leases = answered[why.Lease]("GET leases")
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace", Since: deleted.Add(-time.Hour)})
	assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty, "it was switched off before: another one deletes")
	e.Managers.Items[0].Since = at
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty, "it was switched off since")
}

// A webhook without a server before the conditions: with content, and before any finding about a
// controller is certain.
func TestAWebhookThatIsAskedForTheStatus(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	e.Webhooks = answered("GET webhooks", why.Webhook{
		Resource: "validatingwebhookconfigurations", Configuration: "guard", Name: "guard.io", FailurePolicy: "Fail", Service: &why.Service{Namespace: "guard", Name: "guard"},
		Rules: []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{""}, Resources: []string{"namespaces/status"}}},
	})
	e.Backends = []why.Backend{{Service: why.Service{Namespace: "guard", Name: "guard"}, Request: "GET service"}}
	report := why.Judge(e)
	found := find(report, "C07")
	require.NotNil(t, found, report.Sentence)
	assert.Contains(t, found.Says, "the controller cannot write its conditions")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, why.Possible, find(report, "C19").Certainty)

	e.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionFalse}}
	assert.Nil(t, find(why.Judge(e), "C07"), "a condition was written")
}

// A bound policy that decides on the removal of the token.
func TestAPolicyThatIsAskedToFinalize(t *testing.T) {
	e := calm(evidence(terminating("", "")))
	rules := []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{""}, Resources: []string{"namespaces/finalize"}}}
	e.Policies = answered("GET policies", why.Policy{Name: "p", Rules: rules})
	assert.Nil(t, find(why.Judge(e), "C08"), "it is not bound")
	e.Policies.Items = append(e.Policies.Items, why.Policy{Name: "b", Binding: true, Of: "p"})
	found := find(why.Judge(e), "C08")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, "p", found.Culprit.Name)
}
