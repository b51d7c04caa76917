package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/causes"
	"orrery/internal/lab/clustertest"
	"orrery/internal/why"
	"orrery/internal/why/collect"
)

// A namespace that is deleted in the foreground waits for a dependent outside it, which only Deep
// looks for.
func TestDependentsOutsideTheNamespace(t *testing.T) {
	inWorld(t, causes.Fixture{}, causes.Dependent, causes.Settled, func(t *testing.T, c *clustertest.Cluster) {
		shallow, report := judged(t, c, collect.Options{})
		assert.Equal(t, why.Reference{Resource: "namespaces", Name: causes.Namespace}, find(report, "C17").Culprit)
		deep, report := judged(t, c, collect.Options{Deep: true})
		found := find(report, "C17")
		assert.Equal(t, why.Reference{Resource: "clusterroles.rbac.authorization.k8s.io", Name: "tenant"}, found.Culprit, text(t, report))
		assert.Equal(t, why.Possible, found.Certainty)
		assert.Contains(t, found.Do[0], "kubectl describe clusterroles.rbac.authorization.k8s.io tenant")
		assert.Empty(t, shallow.Dependents.Request)
		assert.Greater(t, deep.Requests, shallow.Requests+len(deep.Types), "one for each type of the cluster")
	})
	inWorld(t, causes.Fixture{}, causes.Tokens, causes.Settled, func(t *testing.T, c *clustertest.Cluster) {
		evidence, _ := judged(t, c, collect.Options{Deep: true})
		assert.Empty(t, evidence.Dependents.Request, "it is not deleted in the foreground")
	})
}
