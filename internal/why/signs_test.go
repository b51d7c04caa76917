package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
)

// This page has owners that are alive although they seem to be gone, and programs that are called
// like an owner and are another.

// grantOf is the right of a service account to update the types of a group.
func grantOf(group, namespace string) why.Grant {
	return why.Grant{Service: why.Service{Namespace: namespace, Name: "operator"}, Group: group, Resources: []string{"*"}}
}

// Types of programs beside kube-apiserver are custom ones, also if their group ends in k8s.io.
func TestAGroupOfAnotherProgram(t *testing.T) {
	for group, custom := range map[string]bool{
		"": false, "apps": false, "storage.k8s.io": false, "policy": false, "example": true,
		"gateway.networking.k8s.io": true, "snapshot.storage.k8s.io": true, "metrics.k8s.io": true, "cluster.x-k8s.io": true,
	} {
		assert.Equal(t, custom, why.Type{Group: group}.IsCustom(), group)
	}
}

// A switched-off controller is not the one that wrote the conditions.
func TestAnotherControllerHasWritten(t *testing.T) {
	e := withManagers(why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace-controller"})
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: deleted.Add(time.Second)}}
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty, "it wrote them before it was switched off")
	e.Managers.Items[0].Created = deleted
	assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty, "another process of that name wrote them")
	e.Managers.Items[0].Created = later
	e.Namespace.Writers[0].Manager = "orrery"
	assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty)
}

// The removal of an entry of the namespace is not offered while its owner is alive.
func TestAnEntryOfTheNamespaceWhoseOwnerIsAlive(t *testing.T) {
	e := audited()
	e.Stamps = []why.Stamp{{Type: "namespaces", Object: "shop", Finalizer: "example.com/audit", Writers: []why.Writer{{Manager: "auditor"}}}}
	e.Workloads, e.AllLeases, e.Grants = answered("GET workloads", workload("deployment", "ops", "auditor", 1)), answered[why.Lease]("GET leases"), answered[why.Grant]("GET roles")
	found, lines := advice(t, e, "C16")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, &why.Party{Name: "auditor", State: why.Ready}, found.Owner)
	assert.NotContains(t, lines, "patch")
	assert.NotContains(t, lines, "last resort")
}
