package why_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

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
C04  databases.example.com/orders
  kubectl -n db scale deployment/db --replicas=1
  when the namespace is gone:
  kubectl undo
  ⚠ last resort, this stays behind: the database:
  kubectl patch
  ⚠ last resort, loses x:
  kubectl patch other
`, text.String())
}
