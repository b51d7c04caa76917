package nsctl_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// fixedTypes is a discovery that always has the same answer.
type fixedTypes struct {
	lists []*api.APIResourceList
	err   error
}

func (f fixedTypes) PreferredNamespacedResources(context.Context, time.Time) ([]*api.APIResourceList, error) {
	return f.lists, f.err
}

func (fixedTypes) Invalidate() {}

func manyTypes(count int) fixedTypes {
	list := &api.APIResourceList{GroupVersion: "example.com/v1"}
	for i := range count {
		list.Resources = append(list.Resources, api.APIResource{Name: "type" + string(rune('a'+i)), Verbs: []string{"delete", "list"}})
	}
	list.Resources = append(list.Resources, api.APIResource{Name: "unlistable", Verbs: []string{"delete"}})
	return fixedTypes{lists: []*api.APIResourceList{list}}
}

// Look reads every type that can be listed, eight at a time, and names those that it could not
// read.
func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		var read []string
		began := time.Now()
		looked := nsctl.Look(t.Context(), manyTypes(20), began, func(_ context.Context, resource nsctl.DeletableResource) error {
			mu.Lock()
			running++
			most = max(most, running)
			read = append(read, resource.GVR.Resource)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			switch resource.GVR.Resource {
			case "typec":
				return errors.New("refused")
			case "typed":
				panic("a decoder broke")
			}
			return nil
		})
		assert.Equal(t, 8, most)
		assert.Equal(t, 3*time.Second, time.Since(began))
		slices.Sort(read)
		assert.Len(t, slices.Compact(read), 20)
		assert.NotContains(t, read, "unlistable")
		require.Len(t, looked.Errs, 21)
		assert.ErrorContains(t, looked.Errs[2], "listing of typec.example.com: refused")
		assert.ErrorContains(t, looked.Errs[3], "a decoder broke")
		assert.ErrorContains(t, looked.Err(), "2 errors")
	})
}

// A discovery without any type, or with a failure, is an error: types may be missing.
func TestLookWithoutTypes(t *testing.T) {
	none := func(context.Context, nsctl.DeletableResource) error { return nil }
	assert.ErrorIs(t, nsctl.Look(t.Context(), fixedTypes{}, time.Time{}, none).Err(), nsctl.ErrNothingDiscovered)
	broken := manyTypes(1)
	broken.err = errors.New("a group is down")
	looked := nsctl.Look(t.Context(), broken, time.Time{}, none)
	assert.Equal(t, broken.err, looked.DiscoveryErr)
	assert.Len(t, looked.Resources, 2)
}
