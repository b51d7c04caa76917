package why_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has what a report tells, and what it must not leave out.

// Of many refusals to this user one stands for all, and what the conditions say comes first.
func TestManyRefusalsToThisUser(t *testing.T) {
	refused := func(resource string) why.Type {
		return why.Type{Version: "v1", Resource: resource, Request: "GET " + resource, Failed: &why.Failure{
			Request: "GET " + resource, Code: 403, Message: resource + " is forbidden", Right: "list " + resource,
		}}
	}
	e := evidence(terminating(contentFailure, "said"), refused("configmaps"), refused("pods"), refused("services"))
	found := find(why.Judge(e), "C30")
	require.NotNil(t, found)
	require.Len(t, found.Proof, 2)
	assert.Equal(t, "said by a condition, not verified: ContentFailure: said", found.Proof[0].Says)
	assert.Equal(t, "403: configmaps is forbidden; and 2 refusals like it", found.Proof[1].Says)
	assert.Equal(t, "this user may not list configmaps, list pods, list services", found.Says)
}

// A user with few rights does not get a line of fifty types.
func TestManyUnreadTypes(t *testing.T) {
	e := evidence(terminating("", ""))
	for i := range 20 {
		resource := fmt.Sprintf("things%02d", i)
		e.Types = append(e.Types, why.Type{Group: "acme.io", Version: "v1", Resource: resource, Failed: &why.Failure{Code: 403, Right: "list " + resource}})
	}
	var text strings.Builder
	require.NoError(t, why.Judge(e).WriteText(&text, false, 100))
	assert.Contains(t, text.String(), "more types")
	assert.NotContains(t, text.String(), "unread: things00.acme.io, things01.acme.io, things02.acme.io, things03.acme.io, things04.acme.io")
	assert.Len(t, why.Judge(e).Checked.Unread, 20)
}

// What blocks several namespaces comes first, once: repaired once, all of them go.
func TestACauseOfSeveralNamespaces(t *testing.T) {
	first, second := unavailable("x"), unavailable("x")
	second.Name = "other"
	alone := held(since("deployment", "keda-operator", 0, time.Hour))
	alone.Name = "alone"
	var text strings.Builder
	require.NoError(t, why.JudgeAll([]why.Evidence{first, second, alone}).WriteText(&text, 0))
	assert.Regexp(t, `^C01  apiservices\.apiregistration\.k8s\.io/v1\.g\.io blocks 2 namespaces\nNAMESPACE `,
		text.String())
	text.Reset()
	unproven := second
	unproven.Second = nil
	for _, both := range [][]why.Evidence{{first, unproven}, {unproven, first}} {
		require.NoError(t, why.JudgeAll(both).WriteText(&text, 0))
		assert.Contains(t, text.String(), "v1.g.io blocks 2 namespaces\n", "it is proven in one of them")
		text.Reset()
	}
	first.Second, second.Second = nil, nil
	require.NoError(t, why.JudgeAll([]why.Evidence{first, second}).WriteText(&text, 0))
	assert.Contains(t, text.String(), "v1.g.io possibly blocks 2 namespaces\n", "nothing is proven in either")
	text.Reset()
	require.NoError(t, why.JudgeAll([]why.Evidence{first, alone}).WriteText(&text, 0))
	assert.Regexp(t, `^NAMESPACE `, text.String(), "each has a cause of its own")
}

// Of more evidence than a block has room for, it has what decides: the last things that were seen,
// and each in a whole sentence.
func TestTheEvidenceOfABlock(t *testing.T) {
	var text strings.Builder
	long := why.Finding{ID: "C07", Title: "t", Do: slices.Repeat([]string{"do"}, 6), Missing: []string{"the last"}}
	for _, says := range []string{"first", strings.Repeat("second ", 40), "third", "fourth"} {
		long.Proof = append(long.Proof, why.Proof{Says: says})
	}
	require.NoError(t, why.Report{Findings: []why.Finding{long}}.WriteText(&text, false, 0))
	assert.Contains(t, text.String(), `
  EVIDENCE    third
              fourth
              not proven: the last
              ... (-o wide has all evidence)
`)
	assert.NotContains(t, text.String(), "second")
	text.Reset()
	require.NoError(t, why.Report{Findings: []why.Finding{long}}.WriteText(&text, true, 0))
	assert.Contains(t, text.String(), "EVIDENCE    first\n              second second")
	text.Reset()
	report := why.Judge(held())
	require.Equal(t, why.NotHere, find(report, "C04").Owner.State)
	require.NoError(t, report.WriteText(&text, false, 0))
	assert.Contains(t, text.String(), "not proven: whether keda-operator runs outside this cluster is not known\n")
	assert.NotEmpty(t, find(report, "C04").Remedies)
	assert.Contains(t, find(report, "C04").Remedies[len(find(report, "C04").Remedies)-1].Command, "--type=json", "it is the last resort")
}

// What is left is named, whatever the cause.
func TestWhatIsLeft(t *testing.T) {
	e := unavailable("x")
	e.Types = append(e.Types, typeOf("", "configmaps", object("a"), object("b")),
		typeOf("apps", "deployments", object("web")))
	var text strings.Builder
	require.NoError(t, why.Judge(e).WriteText(&text, false, 0))
	assert.Contains(t, text.String(), "3 objects left, such as configmaps/a and deployments.apps/web")
}

// What another cause or object needs is a remedy of its own.
func TestPlanHasACommandForEachCauseAndObject(t *testing.T) {
	finding := func(id, name string) why.Finding {
		return why.Finding{ID: id, Culprit: why.Reference{Resource: "pods", Name: name},
			Remedies: []why.Remedy{{Command: "kubectl get nodes"}}}
	}
	plan := why.Plan(why.Report{Findings: []why.Finding{finding("C11", "a"), finding("C11", "a"), finding("C11", "b"),
		finding("C12", "a")}})
	require.Len(t, plan, 3)
	assert.Equal(t, []string{"C11", "C11", "C12"}, []string{plan[0].Cause, plan[1].Cause, plan[2].Cause})
}

// Safe remedies come first, with the losses of the others.
func TestPrint(t *testing.T) {
	report := why.Report{Namespace: "shop", Findings: []why.Finding{{
		ID: "C04", Culprit: why.Reference{Resource: "databases.example.com", Namespace: "shop", Name: "orders"},
		Remedies: []why.Remedy{{Command: "kubectl -n db scale deployment/db --replicas=1"},
			{Command: "kubectl undo", When: "when the namespace is gone"}, {Command: "kubectl patch",
				Loses: why.StaysBehind + "the database"}},
	}, {
		ID: "C04", Culprit: why.Reference{Resource: "databases.example.com", Namespace: "shop",
			Name: "orders"}, // another finalizer
		Remedies: []why.Remedy{{Command: "kubectl -n db scale deployment/db --replicas=1"},
			{Command: "kubectl patch other", Loses: "x"}},
	}}}
	var text strings.Builder
	require.NoError(t, why.WritePlan(&text, why.Plan(report)))
	assert.Equal(t, `
C04  databases.example.com shop/orders
  kubectl -n db scale deployment/db --replicas=1
  when the namespace is gone:
  kubectl undo
  ⚠ last resort, this stays behind: the database:
  kubectl patch
  ⚠ last resort, loses x:
  kubectl patch other
`, text.String())
}
