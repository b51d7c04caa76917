package collect

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// Of many objects those are kept that block: with a finalizer, then younger than the deletion,
// wherever they are in the list.
func TestKeeper(t *testing.T) {
	deleted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	k := keeper{deleted: deleted}
	for i := range 3 * why.MaxKept {
		k.add(why.Object{Name: fmt.Sprintf("old-%d", i), Created: deleted.Add(-time.Hour)}, api.ManagedFields{})
	}
	for i := range 2 * why.MaxKept {
		k.add(why.Object{Name: fmt.Sprintf("young-%d", i), Created: deleted.Add(time.Minute)}, api.ManagedFields{})
	}
	k.add(why.Object{Name: "held", Created: deleted.Add(-time.Hour), Finalizers: []string{"example.com/x"}}, api.ManagedFields{})
	kept := k.objects()
	require.Len(t, kept, why.MaxKept)
	assert.Equal(t, "held", kept[0].Name)
	for i := range 2 * why.MaxKept {
		k.add(why.Object{Name: fmt.Sprintf("held-%d", i), Finalizers: []string{"example.com/x"}}, api.ManagedFields{})
	}
	k.add(why.Object{Name: "other", Finalizers: []string{"example.com/x", "example.com/y"}}, api.ManagedFields{})
	k.add(why.Object{Name: "deleted", Deleted: deleted, Finalizers: []string{"example.com/y"}}, api.ManagedFields{})
	kept = k.objects()
	require.Len(t, kept, why.MaxKept)
	assert.Equal(t, []string{"held", "other", "deleted", "held-0"}, []string{kept[0].Name, kept[1].Name, kept[2].Name, kept[3].Name},
		"one with each finalizer, terminating and not, is kept first")
	k.first, k.blockers = k.first[:1], nil
	kept = k.objects()
	assert.False(t, slices.ContainsFunc(kept[1:], func(o why.Object) bool { return !o.Created.After(deleted) }))
}

// An endpoint that does not say whether it is ready is ready. One that is not ready may become so,
// but for that of a pod that ends.
func TestEndpoints(t *testing.T) {
	slice := &api.Unstructured{Object: map[string]any{"endpoints": []any{
		map[string]any{"addresses": []any{"192.0.2.1"}},
		map[string]any{"conditions": map[string]any{"ready": true}},
		map[string]any{"conditions": map[string]any{"ready": false}},
		map[string]any{"conditions": map[string]any{"ready": false, "terminating": true}},
	}}}
	ready, coming := endpointsOf(slice)
	assert.Equal(t, []int{2, 1}, []int{ready, coming})
}

// What a controller writes to the status of an object is no change of it.
func TestLastWrite(t *testing.T) {
	var fields api.ManagedFields
	require.NoError(t, json.Unmarshal([]byte(`[{"manager":"a","time":"2026-01-02T03:04:05Z"},{"manager":"b","time":"2026-01-02T03:04:09Z","subresource":"status"},
		{"manager":"c"},{"manager":"d","time":"2026-01-02T03:04:07Z"}]`), &fields))
	at := time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)
	k := keeper{}
	k.add(why.Object{Name: "a"}, fields)
	k.add(why.Object{Name: "b"}, api.ManagedFields{})
	assert.Equal(t, []why.Object{{Name: "a", Changed: at, Written: at.Add(2 * time.Second)}, {Name: "b"}}, k.objects())
}
