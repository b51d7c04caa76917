package collect

import (
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
		k.add(why.Object{Name: fmt.Sprintf("old-%d", i), Created: deleted.Add(-time.Hour)})
	}
	for i := range 2 * why.MaxKept {
		k.add(why.Object{Name: fmt.Sprintf("young-%d", i), Created: deleted.Add(time.Minute)})
	}
	k.add(why.Object{Name: "held", Created: deleted.Add(-time.Hour), Finalizers: []string{"example.com/x"}})
	kept := k.objects()
	require.Len(t, kept, why.MaxKept)
	assert.Equal(t, "held", kept[0].Name)
	for i := range 2 * why.MaxKept {
		k.add(why.Object{Name: fmt.Sprintf("held-%d", i), Finalizers: []string{"example.com/x"}})
	}
	k.add(why.Object{Name: "other", Finalizers: []string{"example.com/x", "example.com/y"}})
	k.add(why.Object{Name: "deleted", Deleted: deleted, Finalizers: []string{"example.com/y"}})
	kept = k.objects()
	require.Len(t, kept, why.MaxKept)
	assert.Equal(t, []string{"held", "other", "deleted", "held-0"}, []string{kept[0].Name, kept[1].Name, kept[2].Name, kept[3].Name},
		"one with each finalizer, in deletion and not, is kept first")
	k.first, k.blockers = k.first[:1], nil
	kept = k.objects()
	assert.False(t, slices.ContainsFunc(kept[1:], func(o why.Object) bool { return !o.Created.After(deleted) }))
}

// An endpoint that does not say whether it is ready is ready.
func TestReadyEndpoints(t *testing.T) {
	slice := &api.Unstructured{Object: map[string]any{"endpoints": []any{
		map[string]any{"addresses": []any{"192.0.2.1"}},
		map[string]any{"conditions": map[string]any{"ready": true}},
		map[string]any{"conditions": map[string]any{"ready": false}},
	}}}
	assert.Equal(t, 2, readyEndpoints(slice))
}
