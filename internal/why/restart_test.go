package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has what is down for a short time only: owners that start again, and obstacles that
// were removed since the controller met them.

// A Lease of kube-controller-manager that has just expired may be renewed by the next process.
func TestAControllerManagerThatStartsAgain(t *testing.T) {
	e := withManagers(why.Manager{Name: "kcm"})
	for ago, certainty := range map[time.Duration]why.Certainty{30 * time.Second: why.Possible, 2 * time.Minute: why.Proven} {
		e.Leases.Items = []why.Lease{{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "old", Renewed: at.Add(-ago), Duration: 15 * time.Second}}
		assert.Equal(t, certainty, find(why.Judge(e), "C19").Certainty, ago)
	}
	e.Managers.Items = nil
	assert.Contains(t, find(why.Judge(e), "C19").Missing, "no pod of kube-controller-manager is visible: it may run elsewhere, without a Lease")
}

// A pod with the controller switched off proves nothing while another process holds the Lease. The
// values of several flags add up.
func TestAManagerBesideTheOneThatLeads(t *testing.T) {
	e := withManagers(why.Manager{Name: "kube-controller-manager-nodeipam", Ready: true, Controllers: "node-ipam-controller"})
	require.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Leases.Items = []why.Lease{{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "cp-1_6e1f", Renewed: at, Duration: 15 * time.Second}}
	found := find(why.Judge(e), "C19")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"the Lease of kube-controller-manager is held by cp-1_6e1f, which is none of its pods: another process may be at work"}, found.Missing)
	e.Managers.Items[0].Name = "kube-controller-manager-cp-1"
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty, "its own pod leads")
}

// What kube-controller-manager creates in every namespace is deleted again in each pass.
func TestObjectsOfEveryNamespace(t *testing.T) {
	young := object("kube-root-ca.crt")
	young.Created = at.Add(-time.Second)
	t1 := typeOf("", "configmaps", young)
	t1.Newest = young.Created
	e := evidence(terminating("", ""), t1)
	again := young
	again.UID, again.Created = "another", at.Add(time.Second)
	e.Second.Types[0].Objects = []why.Object{again}
	assert.Nil(t, find(why.Judge(e), "C28"))
	e.Types[0].Objects[0].Name, e.Second.Types[0].Objects[0].Name = "a", "b"
	assert.NotNil(t, find(why.Judge(e), "C28"))
}

// Events expire: that they become fewer is no progress.
func TestEventsThatExpire(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "events", object("a"), object("b")))
	e.Second.Types[0].Objects, e.Second.Types[0].Count = e.Second.Types[0].Objects[:1], 1
	assert.Nil(t, find(why.Judge(e), "C27"))
	e.Types[0].Resource, e.Second.Types[0].Resource = "configmaps", "configmaps"
	assert.NotNil(t, find(why.Judge(e), "C27"))
}
