package nsctl

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func resourceNames(resources []DeletableResource) []string {
	var names []string
	for _, r := range resources {
		names = append(names, r.GVR.GroupResource())
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
		{GroupVersion: "apps/v1", Resources: []api.APIResource{{Name: "deployments",
			Verbs: []string{"delete", "deletecollection"}}}},
	}
	resources, err := DeletableResources(lists)
	require.Error(t, err, "the group version that cannot be parsed is reported")
	assert.Contains(t, err.Error(), "a/b/c")
	assert.Equal(t, []string{"pods.", "configmaps.", "events.", "oddities.", "deployments.apps"},
		resourceNames(resources), "pods first")
	assert.False(t, resources[3].CanDeleteCollection)
	assert.True(t, resources[3].CanList)
	assert.True(t, resources[4].CanDeleteCollection)
	assert.False(t, resources[4].CanList)
}

func TestEventsAreDeletedUnderTheirOnlyGroup(t *testing.T) {
	resources, err := DeletableResources([]*api.APIResourceList{
		{GroupVersion: "v1", Resources: []api.APIResource{{Name: "secrets", Verbs: []string{"delete"}}}},
		{GroupVersion: "events.k8s.io/v1", Resources: []api.APIResource{{Name: "events", Verbs: []string{"delete"}}}},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"secrets.", "events.events.k8s.io"}, resourceNames(resources))
}

func TestRequeueAfterIsHalfTheEstimateAndASecond(t *testing.T) {
	for estimate, want := range map[int64]time.Duration{1: time.Second, 15: 8 * time.Second, 30: 16 * time.Second,
		31: 16 * time.Second} {
		assert.Equal(t, want, (&ResourcesRemainingError{Estimate: estimate}).RequeueAfter(), "estimate %d", estimate)
	}
	for elapsed, want := range map[time.Duration]time.Duration{time.Millisecond: time.Second,
		5 * time.Second: 5 * time.Second, time.Hour: 8 * time.Second} {
		assert.Equal(t, want, (&ResourcesRemainingError{Estimate: 15, Elapsed: elapsed}).RequeueAfter(), "elapsed %v",
			elapsed)
	}
	assert.EqualError(t, &ResourcesRemainingError{Estimate: 15},
		"some content remains in the namespace, estimate 15 seconds before it is removed")
}

func TestADeleterHasADefaultConcurrency(t *testing.T) {
	for given, want := range map[int]int{-1: 32, 0: 32, 1: 1, 4: 4} {
		assert.Equal(t, want, DeleterConfig{Concurrency: given}.WithDefaults().Concurrency, "%d is configured", given)
	}
}

// With or without hooks set, every hook may be called except the one whose caller checks for nil.
func TestEveryHookMayBeCalled(t *testing.T) {
	for _, trace := range []*Trace{nil, {}, {Gone: func(string, time.Duration) {}}} {
		complete := reflect.ValueOf(*trace.complete())
		for i := range complete.NumField() {
			name := complete.Type().Field(i).Name
			assert.Equal(t, name == "PassStuck", complete.Field(i).IsNil(), name)
		}
		assert.Equal(t, t.Context(), trace.complete().PassContext(t.Context(), "ns"))
		trace.complete().Phase("ns", PhasePods)()
	}
}
