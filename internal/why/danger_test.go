package why_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// advice returns all that a finding advises, a line each.
func advice(t *testing.T, e why.Evidence, id string) (f *why.Finding, lines string) {
	t.Helper()
	f = find(why.Judge(e), id)
	require.NotNil(t, f)
	lines = strings.Join(f.Do, "\n") + "\n"
	for _, r := range f.Remedies {
		lines += strings.Join([]string{r.When, r.Command}, " ") + "\n"
	}
	return f, lines
}

// undiscovered is a namespace that waits for an APIService whose Service is in a namespace.
func undiscovered(namespace string) why.Evidence {
	e := evidence(terminating(discoveryFailure, "Discovery failed: g.io/v1: stale GroupVersion discovery: g.io/v1"))
	e.Discovery.Failed = map[string]string{"g.io/v1": "stale GroupVersion discovery: g.io/v1"}
	e.Second.Failed = e.Discovery.Failed
	e.APIServices = answered("GET apiservices", why.APIService{
		Name: "v1.g.io", UID: "u", GroupVersion: "g.io/v1", Service: &why.Service{Namespace: namespace, Name: "b"}, Available: "False", Reason: "MissingEndpoints",
	})
	return e
}

// The deletion of an APIService strands what its server stores: it is always marked.
func TestDeletingAnAPIServiceIsMarked(t *testing.T) {
	for id, namespace := range map[string]string{"C01": "kube-system", "C02": "shop"} {
		f, lines := advice(t, undiscovered(namespace), id)
		assert.Contains(t, lines, "⚠ if the add-on is uninstalled, and its API has no data of its own: kubectl delete apiservice v1.g.io")
		for _, r := range f.Remedies {
			if strings.Contains(r.Command, "delete apiservice") {
				assert.Contains(t, r.Loses, "strands what its server stores")
			}
		}
	}
	_, lines := advice(t, undiscovered("shop"), "C02")
	assert.Contains(t, lines, "run the server in another namespace, and set spec.service of APIService v1.g.io to it")

	outside := undiscovered("shop")
	outside.Backends = []why.Backend{{Service: why.Service{Namespace: "shop", Name: "b"}, Exists: true, External: "api.example.com", Request: "GET service"}}
	f, lines := advice(t, outside, "C02")
	assert.Equal(t, []string{"whether api.example.com answers was not seen"}, f.Missing)
	assert.NotContains(t, f.Says, "whose pods")
	assert.Contains(t, lines, "give api.example.com a Service in another namespace, and set spec.service of APIService v1.g.io to it")
}

// The condition may have had another reason when it became False.
func TestSinceWhenAnAPIServiceIsUnavailable(t *testing.T) {
	e := undiscovered("kube-system")
	e.APIServices.Items[0].Since = at
	f, _ := advice(t, e, "C01")
	assert.Equal(t, "APIService v1.g.io: Available=False MissingEndpoints, not Available since 2026-01-02 03:14:05 UTC; Service kube-system/b", f.Proof[2].Says)
}

// No pod starts in a terminating namespace: what was there is not to be brought back.
func TestNothingIsBroughtBackIntoTheNamespace(t *testing.T) {
	inside := why.Service{Namespace: "shop", Name: "guard"}
	hook := unreachable()
	hook.Webhooks.Items[1].Service = &inside
	hook.Backends[0].Service = inside
	_, lines := advice(t, hook, "C07")
	assert.NotContains(t, lines, "bring the pods")
	assert.Contains(t, lines, "remove the exclusion when shop is gone")

	broken := typeOf("g.io", "things")
	broken.Failed = &why.Failure{Request: "GET things", Code: 500, Message: "conversion webhook for g.io/v1, Kind=Thing failed: Post: refused"}
	conversion := evidence(terminating("", ""), broken)
	conversion.Definitions = answered("GET crds", why.Definition{Type: "things.g.io", Converter: &inside})
	conversion.Backends = []why.Backend{{Service: inside, Request: "GET service"}}
	_, lines = advice(t, conversion, "C09")
	assert.NotContains(t, lines, "bring the pods")
	assert.Contains(t, lines, "run the conversion webhook in another namespace")
}

// While the namespace may hold more, a token of its own may act only later.
func TestATokenBesideUnreadTypes(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers = []string{"kubernetes", "example.com/x"}
	e := evidence(n)
	f, lines := advice(t, e, "C18")
	assert.Equal(t, why.Proven, f.Certainty)
	assert.Contains(t, lines, "find the owner of example.com/x, which was not looked for")
	e.Types[0].Failed = &why.Failure{Request: "GET secrets", Code: 500, Message: "no"}
	f, _ = advice(t, e, "C18")
	assert.Equal(t, why.Possible, f.Certainty)
	assert.Len(t, f.Remedies, 1, "no write is offered")
}

// Two findings about one namespace give two rights of their own, and take them away again.
func TestTwoRightsHaveTwoNames(t *testing.T) {
	e := withoutRights()
	things := typeOf("keda.sh", "scaledjobs", object("b", "finalizer.keda.sh"))
	e.Types, e.Second.Types = append(e.Types, things), append(e.Second.Types, things)
	for _, verb := range []string{"update", "patch", "list"} {
		e.Reviews = append(e.Reviews, why.Review{User: "system:serviceaccount:keda:operator", Verb: verb, Group: "keda.sh", Resource: "scaledjobs", Allowed: verb == "list"})
	}
	created := map[string]bool{}
	for _, f := range why.Judge(e).Findings {
		for _, r := range f.Remedies {
			if words := strings.Fields(r.Command); f.ID == "C06" && words[1] == "create" && words[2] == "clusterrole" {
				assert.False(t, created[words[3]], words[3])
				created[words[3]] = true
			}
		}
	}
	assert.Len(t, created, 2)
}
