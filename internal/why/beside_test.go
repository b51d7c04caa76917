package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page has situations in which something else is beside a cause, and must not hide or prove
// it.

// The answer about one verb says nothing about another.
func TestTwoVerbsOfOneType(t *testing.T) {
	refusal := func(verb string) string {
		return `configmaps is forbidden: User "system:u" cannot ` + verb + ` resource "configmaps" in API group "" in the namespace "shop"`
	}
	e := says(evidence(terminating("", ""), typeOf("", "configmaps", object("a"))), refusal("list")+", "+refusal("deletecollection"))
	e.Reviews = []why.Review{{User: "system:u", Verb: "list", Resource: "configmaps", Allowed: true}, {User: "system:u", Verb: "deletecollection", Resource: "configmaps"}}
	findings := why.Judge(e).Findings
	require.Len(t, findings, 1)
	assert.Equal(t, "user system:u may not deletecollection configmaps", findings[0].Says)
	assert.Equal(t, why.Proven, findings[0].Certainty)

	for i := range e.Reviews {
		e.Reviews[i].User = "jane"
	}
	e = says(e, strings.ReplaceAll(refusal("list")+", "+refusal("deletecollection"), "system:u", "jane"))
	assert.Equal(t, []string{"the groups of user jane are not known: one may give it the right"}, find(why.Judge(e), "C21").Missing)
}

// kube-apiserver has APIServices for its own groups too.
func TestAGroupOfTheServerItself(t *testing.T) {
	e := says(evidence(terminating("", ""), typeOf("apps", "deployments", object("d"))),
		`deployments.apps is forbidden: User "u" cannot list resource "deployments" in API group "apps" in the namespace "shop"`)
	e.Reviews = []why.Review{{User: "u", Verb: "list", Group: "apps", Resource: "deployments", Allowed: true}}
	e.APIServices = answered("GET apiservices", why.APIService{GroupVersion: "apps/v1"})
	assert.Nil(t, find(why.Judge(e), "C21"), "the right was restored since")
}

// A list that fails in the second sample does not show that objects went.
func TestASecondListThatFails(t *testing.T) {
	e := defined()
	e.Second.Types[0] = why.Type{Group: "keda.sh", Version: "v1", Resource: "scaledobjects", Failed: &why.Failure{Code: 500, Message: "no"}}
	assert.NotNil(t, find(why.Judge(e), "C25"))
	assert.Nil(t, find(why.Judge(e), "C27"))
}

// If not all objects were counted at first, a larger number does not show new ones.
func TestATypeThatWasNotCounted(t *testing.T) {
	fresh := object("t")
	fresh.Created = deleted.Add(time.Minute)
	e := evidence(terminating("", ""), typeOf("", "configmaps", fresh))
	e.Types[0].More = true
	e.Second.Types[0].Count = 900
	assert.Nil(t, find(why.Judge(e), "C28"))
}

// A discovery that is refused to this command does not show that the condition no longer holds.
func TestADiscoveryThatIsRefusedToThisUser(t *testing.T) {
	e := evidence(terminating(discoveryFailure, "Discovery failed for some groups, 1 failing: g.io/v1: no answer"))
	e.Discovery.Refused = &why.Failure{Request: "GET /apis", Code: 500, Message: "no"}
	e.Namespace.Conditions[0].LastTransitionTime = api.NewTime(later.Add(-time.Minute))
	e.Second.Namespace.Conditions = e.Namespace.Conditions
	assert.NotEqual(t, why.Progressing, why.Judge(e).Verdict, why.Judge(e).Sentence)
}

// A second list that fails, or that is not counted, shows no progress.
func TestProgressNeedsTheWholeSecondList(t *testing.T) {
	e := evidence(terminating(contentFailure, "x"), typeOf("", "configmaps", object("a"), object("b")))
	e.Second.Types[0] = why.Type{Version: "v1", Resource: "configmaps", Failed: &why.Failure{Code: 500, Message: "no"}}
	assert.NotEqual(t, why.Progressing, why.Judge(e).Verdict, why.Judge(e).Sentence)
	e = calm(evidence(terminating("", ""), typeOf("", "configmaps", object("a"))))
	e.Types[0].Count, e.Second.Types[0].Count, e.Second.Types[0].More, e.Second.Types[0].Partial = 1200, 500, true, true
	assert.NotEqual(t, why.Progressing, why.Judge(e).Verdict, why.Judge(e).Sentence)
}
