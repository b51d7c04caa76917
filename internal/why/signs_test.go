package why_test

import (
	"testing"

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
