package registry_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

func (w *world) update(t registry.Target, text string) (*api.Unstructured, error) {
	o, err := w.Update(ctx, t, tree(text), none)
	if err != nil {
		return nil, err
	}
	return o.Decode(), nil
}

// A patch is retried on the latest state, unless it names a version.
func TestPatchesAreRepeated(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"a"},"data":{"n":"0"}}`)
	disturb := func(times int) func(*api.Unstructured) (*api.Unstructured, error) {
		calls := 0
		return func(o *api.Unstructured) (*api.Unstructured, error) {
			if calls++; calls <= times {
				_, err := w.update(w.cm("a"), fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"n":"%s%d"}}`, o.NestedString("data", "n"), calls))
				require.NoError(t, err)
			}
			return o, o.SetNested("patched", "data", "p")
		}
	}
	o, err := w.Patch(ctx, w.cm("a"), disturb(4), none)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"n": "01234", "p": "patched"}, o.Decode().NestedStringMap("data"))

	_, err = w.Patch(ctx, w.cm("a"), disturb(5), none)
	refused(t, err, 409, `Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`)

	named := w.get(w.cm("a")).GetResourceVersion()
	calls := 0
	_, err = w.Patch(ctx, w.cm("a"), func(o *api.Unstructured) (*api.Unstructured, error) {
		changed, err := disturb(1)(o)
		calls++
		metadata, _ := changed.Nested("metadata").(map[string]any)
		metadata["resourceVersion"] = named
		return changed, err
	}, none)
	assert.True(t, api.IsConflict(err), "%v", err)
	assert.Equal(t, 2, calls)
}
