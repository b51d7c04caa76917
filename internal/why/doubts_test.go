package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has situations in which all that was seen speaks for a cause, and something that was
// not seen may speak against it.

// asked returns webhooks with a server, which are asked about requests.
func asked(operation string, resources ...string) why.Answer[why.Webhook] {
	return answered("GET webhooks", why.Webhook{
		Resource: "validatingwebhookconfigurations", Configuration: "w", Name: "w.io", FailurePolicy: "Fail", Service: &why.Service{Namespace: "w", Name: "w"},
		Rules: []why.Rule{{Operations: []string{operation}, Groups: []string{"*"}, Resources: resources}},
	})
}

// An old Lease is no proof for other controllers either, before any condition.
func TestAnOldLeaseBesideOtherControllers(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = nil, []string{"foregroundDeletion"}
	e := evidence(n)
	e.Managers = answered[why.Manager]("GET pods")
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "old", Renewed: deleted.Add(-48 * time.Hour), Duration: 15 * time.Second})
	assert.Equal(t, []string{"no pod of kube-controller-manager is visible: it may run elsewhere, without a Lease"}, find(why.Judge(e), "C17").Missing)
	e.Managers.Items = []why.Manager{{Name: "kube-controller-manager-a"}}
	assert.Equal(t, why.Proven, find(why.Judge(e), "C17").Certainty)
}

// A pod with the controller switched off proves nothing while it cannot be seen who holds the
// Lease.
func TestAManagerWhoseLeaseMayNotBeRead(t *testing.T) {
	e := withManagers(why.Manager{Name: "kube-controller-manager-a", Ready: true, Controllers: "*,-namespace-controller"})
	require.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Leases = why.Answer[why.Lease]{Request: "GET leases", Failed: &why.Failure{Code: 403, Message: "forbidden", Right: "list leases"}}
	report := why.Judge(e)
	assert.Equal(t, why.Possible, find(report, "C19").Certainty)
	assert.Equal(t, "this user may not list leases", find(report, "C30").Says)
}

// What goes by itself does not hide what may stand still.
func TestATypeThatShrinksBesideOneThatDoesNot(t *testing.T) {
	const reports = "vulnerabilityreports"
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("c", "example.com/x")), typeOf("aquasecurity.github.io", reports, object("a"), object("b")))
	e.Second.Types[1] = typeOf("aquasecurity.github.io", reports, object("a"))
	e.Stamps = []why.Stamp{{Type: "configmaps", Object: "c", Finalizer: "example.com/x", Request: "GET c"}}
	report := why.Judge(calm(e))
	require.Equal(t, why.Proven, find(report, "C27").Certainty)
	require.Equal(t, why.Possible, find(report, "C04").Certainty)
	assert.Equal(t, why.ExitUnknown, report.ExitCode)
	assert.Contains(t, report.Sentence, "has been terminating for 10m and is waiting: 1 vulnerabilityreport.aquasecurity.github.io went within 10s")
	assert.Contains(t, report.Sentence, ". Possibly 1 configmap waits for the owner of example.com/x; that is not proven.")
}

// A namespace that is deleted in the foreground may wait for a dependent outside it, unless the
// garbage collector is off.
func TestADependentOfTheNamespace(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = nil, []string{"foregroundDeletion"}
	e := evidence(n)
	assert.Equal(t, []string{"whether the garbage collector works, or which dependent blocks, was not seen"}, find(why.Judge(e), "C17").Missing)
	e.Managers, e.Leases = answered("GET pods", why.Manager{Name: "kcm", Ready: true, Controllers: "*,-garbage-collector-controller"}), answered[why.Lease]("GET leases")
	assert.Equal(t, why.Proven, find(why.Judge(e), "C17").Certainty)
}

// The missing rights of the user do not matter for a namespace that is gone.
func TestRightsForANamespaceThatIsGone(t *testing.T) {
	broken := typeOf("", "configmaps")
	broken.Failed = &why.Failure{Code: 403, Message: "no", Right: "list configmaps"}
	e := evidence(terminating("", ""), broken)
	require.NotNil(t, find(why.Judge(e), "C30"))
	e.Second.Namespace = nil
	report := why.Judge(e)
	assert.Equal(t, why.Absent, report.Verdict)
	assert.Empty(t, report.Findings)
}
