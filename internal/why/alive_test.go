package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has owners and controllers that are at work although they look absent, and the other
// way round.

// Conditions that a controller wrote before its Lease expired do not show that it is at work, nor
// does a change after them wait for its next pass.
func TestAControllerThatDiedAfterItsConditions(t *testing.T) {
	e := unreachable()
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Created: deleted.Add(-time.Hour)})
	lease := why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a", Renewed: at.Add(-5 * time.Minute), Duration: 15 * time.Second}
	e.Leases = answered("GET leases", lease)
	e.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(-6 * time.Minute)}}
	again := *e.Namespace
	e.Second.Namespace = &again
	require.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Webhooks.Items[1].Changed = at.Add(-4 * time.Minute)
	assert.Equal(t, why.Possible, find(why.Judge(e), "C07").Certainty)
	assert.Contains(t, find(why.Judge(e), "C07").Missing[0], "was changed after the last pass of a controller")
	e.Webhooks.Items[1].Changed = at.Add(-7 * time.Minute)
	assert.Equal(t, why.Proven, find(why.Judge(e), "C07").Certainty)

	e.Leases.Items[0].Name = "orrery"
	assert.NotNil(t, find(why.Judge(e), "C19"), "that of another controller has expired")
}

// A key service that does not answer has lost no data.
func TestAKeyServiceThatIsDown(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "secrets", object("a")))
	e.Types = e.Types[:1]
	e.Types[0].Failed = &why.Failure{Code: 500, Message: `unable to transform key "/registry/secrets/shop/a": failed to decrypt DEK, error: rpc error: code = Unavailable desc = dial unix /var/run/kms.sock`}
	e.Types = append(e.Types, typeOf("", "configmaps"))
	e.Second.Types = e.Types
	found := find(why.Judge(e), "C23")
	require.NotNil(t, found)
	assert.Equal(t, []string{"start the KMS plugin of kube-apiserver, or make its key service reachable: the data is intact"}, found.Do)
}

// The controller of an empty namespace may lack the right to its last request, which no condition
// reports.
func TestAControllerThatMayNotFinalize(t *testing.T) {
	e := calm(evidence(terminating("", "")))
	e.Reviews = []why.Review{{User: "system:serviceaccount:kube-system:namespace-controller", Verb: "update", Resource: "namespaces/finalize", Request: "POST reviews"}}
	found := find(why.Judge(e), "C21")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Do[0], "restore the ClusterRole system:controller:namespace-controller")
	e.Reviews[0].Allowed = true
	assert.Nil(t, find(why.Judge(e), "C21"))
}
