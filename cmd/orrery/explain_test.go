package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/rbac"
	"orrery/restclient/api"
)

// The role system:controller:namespace-controller empties namespaces, and may not touch a Lease: a run with --leader-elect, which is
// the default, never begins to work with it. What is recommended has to be enough.
func TestTheAdviceForAForbiddenRequestIsARoleThatIsEnough(t *testing.T) {
	forbidden := api.NewStatusError(api.Status{Status: api.StatusFailure, Code: 403, Reason: api.ReasonForbidden, Message: "no"})
	sentence := explain(&startError{doing: "listing namespaces", server: "https://k", err: forbidden})
	assert.Contains(t, sentence, "orrery rbac")
	assert.NotContains(t, sentence, "system:controller:")

	code, manifests, _ := orrery(t, "rbac")
	require.Zero(t, code)
	assert.Contains(t, manifests, "leases")
	leases := 0
	for _, right := range rbac.Rights(rbac.Config{LeaderElection: true, LeaseNamespace: "kube-system", LeaseName: "orrery"}) {
		if right.Rule.Resources[0] == "leases" {
			leases++
			assert.Contains(t, manifests, right.Rule.Verbs[0])
		}
	}
	assert.Equal(t, 2, leases)
}
