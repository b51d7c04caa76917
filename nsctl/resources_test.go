package nsctl

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func resourceNames(resources []deletableResource) []string {
	var names []string
	for _, r := range resources {
		names = append(names, r.gvr.GroupResource())
	}
	return names
}

func TestDeletableResources(t *testing.T) {
	all := []string{"create", "delete", "deletecollection", "get", "list"}
	lists := []*api.APIResourceList{
		{GroupVersion: "v1", Resources: []api.APIResource{
			{Name: "pods", Verbs: all}, {Name: "events", Verbs: all},
			{Name: "bindings", Verbs: []string{"create"}}, {Name: "oddities", Verbs: []string{"delete", "list"}},
			{Name: "configmaps", Verbs: all}, {Name: "configmaps", Verbs: all},
		}},
		{GroupVersion: "events.k8s.io/v1", Resources: []api.APIResource{{Name: "events", Verbs: all}}},
		{GroupVersion: "a/b/c", Resources: []api.APIResource{{Name: "unreachable", Verbs: all}}},
		{GroupVersion: "apps/v1", Resources: []api.APIResource{{Name: "deployments", Verbs: []string{"delete", "deletecollection"}}}},
	}
	resources, err := deletableResources(lists)
	require.Error(t, err, "the group version that cannot be parsed is reported")
	assert.Contains(t, err.Error(), "a/b/c")
	assert.Equal(t, []string{"configmaps.", "events.", "oddities.", "pods.", "deployments.apps"}, resourceNames(resources))
	assert.False(t, resources[2].canDeleteCollection)
	assert.True(t, resources[2].canList)
	assert.True(t, resources[4].canDeleteCollection)
	assert.False(t, resources[4].canList)

	pods, others := splitPods(resources)
	require.NotNil(t, pods)
	assert.Equal(t, api.PodsResource, pods.gvr)
	assert.Equal(t, []string{"configmaps.", "events.", "oddities.", "deployments.apps"}, resourceNames(others))
}

func TestEventsAreDeletedUnderTheirOnlyGroup(t *testing.T) {
	resources, err := deletableResources([]*api.APIResourceList{
		{GroupVersion: "events.k8s.io/v1", Resources: []api.APIResource{{Name: "events", Verbs: []string{"delete"}}}},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"events.events.k8s.io"}, resourceNames(resources))
	pods, others := splitPods(resources)
	assert.Nil(t, pods)
	assert.Len(t, others, 1)
}
