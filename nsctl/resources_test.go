package nsctl

import (
	"context"
	"reflect"
	"slices"
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

// listing is a discovery that lists one type.
type listing api.APIResourceList

func (l *listing) PreferredNamespacedResources(context.Context, time.Time) ([]*api.APIResourceList, error) {
	return []*api.APIResourceList{(*api.APIResourceList)(l)}, nil
}

func (l *listing) Invalidate() {}

func TestATypeHasVanishedIfItsGroupDoesNotListIt(t *testing.T) {
	for name, test := range map[string]struct {
		group, version, resource string
		forgiven                 bool
	}{
		"listed in another version":   {"a.example", "v2", "things", false},
		"its name, in another group":  {"b.example", "v1", "things", true},
		"another name in its group":   {"a.example", "v1", "others", true},
		"another name, another group": {"b.example", "v1", "others", true},
	} {
		discovery := &listing{GroupVersion: test.group + "/" + test.version,
			Resources: []api.APIResource{{Name: test.resource, Verbs: []string{"delete"}}}}
		things := api.GroupVersionResource{Group: "a.example", Version: "v1", Resource: "things"}
		errs := []error{&api.StatusError{Status: api.Status{Code: 404, Reason: api.ReasonNotFound}}}
		ForgiveVanished(t.Context(), discovery, now, []DeletableResource{{GVR: things}}, errs)
		assert.Equal(t, test.forgiven, errs[0] == nil, name)
	}
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

// With or without hooks set, every hook may be called except the three whose callers check for nil.
func TestEveryHookMayBeCalled(t *testing.T) {
	optional := []string{"PhaseStarted", "PhaseDone", "PassStuck"}
	for _, trace := range []*Trace{nil, {}, {Gone: func(string, time.Duration) {}}} {
		complete := reflect.ValueOf(*trace.complete())
		for i := range complete.NumField() {
			if name := complete.Type().Field(i).Name; !assert.Equal(t, complete.Field(i).IsNil(),
				slices.Contains(optional, name), name) {
				t.Log("a hook that is not set must be a function that does nothing")
			}
		}
		ctx := t.Context()
		assert.Equal(t, ctx, trace.complete().PassContext(ctx, "ns"))
		trace.Phase("ns", PhasePods)()
	}
}
