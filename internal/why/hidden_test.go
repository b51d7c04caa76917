package why_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// Owners and controllers that are alive, and are hard to see.

// The same for C17, with a Lease that expired three minutes ago.
func TestCollectorThatIsStarting(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = nil, []string{"foregroundDeletion"}
	e := evidence(n)
	e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: at.Add(-5 * time.Second)})
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-3 * time.Minute), Duration: 15 * time.Second})
	assert.NotEqual(t, why.Proven, certainty(e, "C17"))
}

// The clock of the leader is behind: its Lease was written between the samples.
func TestLeaderWhoseClockIsBehind(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	e.Managers = answered("GET pods", why.Manager{Name: "kcm"})
	lease := why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a", Renewed: at.Add(-80 * time.Second), Duration: 15 * time.Second, Moved: true}
	e.Leases = answered("GET leases", lease)
	assert.Equal(t, why.Possible, certainty(e, "C19"))
	e.Leases.Items[0].Moved = false
	assert.Equal(t, why.Proven, certainty(e, "C19"))
}

// --controllers switches it off for another controller (orrery, whose Lease is in another
// namespace), which has deleted an object since and may not write conditions.
func TestAnotherControllerAtWorkBesideOneThatIsOff(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a", "example.com/x")))
	e.Types[0].Objects[0].Deleted = deleted.Add(6 * time.Second)
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace-controller"})
	e.Leases = answered[why.Lease]("GET leases")
	assert.NotEqual(t, why.Proven, certainty(e, "C19"))
}

// Leases that may not be read do not show that both controllers lead.
func TestTwoControllersWithoutLeases(t *testing.T) {
	e := contradicted()
	e.Leases.Items[0].Renewed = at.Add(time.Second)
	require.Equal(t, why.Possible, certainty(e, "C20"))
	e.Leases = why.Answer[why.Lease]{Request: "GET leases", Failed: noRight}
	assert.NotEqual(t, why.Proven, certainty(e, "C20"))
}

// A kube-controller-manager that has not become ready in ten minutes is not starting.
func TestHowLongAManagerMayStart(t *testing.T) {
	for age, expected := range map[time.Duration]why.Certainty{3 * time.Minute: why.Possible, time.Hour: why.Proven} {
		n := terminating("", "")
		n.SpecFinalizers, n.Finalizers = nil, []string{"foregroundDeletion"}
		e := evidence(n)
		e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: later.Add(-age)})
		e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-5 * time.Minute), Duration: 15 * time.Second})
		assert.Equal(t, expected, certainty(e, "C17"), age)
	}
}

// A first pass does not take long if the controller is off.
func TestManyTypesWithoutAController(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	for i := range 400 {
		e.Types = append(e.Types, typeOf("x.io", fmt.Sprint("types", i)))
	}
	e.Leases = answered[why.Lease]("GET leases")
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace", Since: at})
	e.At, e.Second.At = deleted.Add(55*time.Second), deleted.Add(65*time.Second)
	assert.Equal(t, why.Proven, certainty(e, "C19"))
}

// OpenShift's controller may remove its token.
func TestTheTokenOfOpenShift(t *testing.T) {
	for token, expected := range map[string]why.Certainty{"openshift.io/origin": why.Possible, "example.com/x": why.Proven} {
		n := terminating("", "")
		n.SpecFinalizers = []string{token}
		assert.Equal(t, expected, certainty(calm(evidence(n)), "C18"), token)
	}
}

// The question about the last request is none about the conditions.
func TestTheRightToWriteConditions(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	e.Reviews = []why.Review{{User: "system:serviceaccount:kube-system:namespace-controller", Verb: "update", Resource: "namespaces/status", Request: "POST"}}
	assert.Empty(t, certainty(e, "C21"))
}
