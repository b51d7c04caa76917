package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
)

// This page has ordinary situations in which a cause stays proven: a doubt would be out of place.

// A kube-controller-manager that crashes again and again is not starting.
func TestAManagerThatCrashes(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	e.Namespace.Deleted, e.Second.Namespace.Deleted = at.Add(-3*time.Hour), at.Add(-3*time.Hour)
	e.APIServices, e.Elsewhere = answered[why.APIService]("GET apiservices"), answered[why.ConditionsWrite]("GET namespaces")
	e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: at.Add(-100 * time.Hour), Since: at.Add(-4 * time.Minute)})
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-4 * time.Hour), Duration: 15 * time.Second})
	assert.Equal(t, why.Proven, certainty(e, "C19"))
	e.Leases.Items[0].Renewed = at.Add(-5 * time.Minute)
	assert.Equal(t, why.Possible, certainty(e, "C19"), "it ran five minutes ago")
}
