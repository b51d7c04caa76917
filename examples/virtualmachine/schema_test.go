package virtualmachine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/restclient"
	"orrery/restclient/api"
)

// The schema of crd.yaml refuses an invalid machine before the controller sees it.
func TestWhatTheSchemaRefuses(t *testing.T) {
	inBubble(t, func(w *world) {
		machines := restclient.Dynamic(w.wire.Client(), virtualmachine.Resource, "default")
		create := func(resource any) error {
			_, err := machines.Create(w.t.Context(), &api.Unstructured{Object: map[string]any{
				"apiVersion": "cloudnative.tw/v1alpha1", "kind": virtualmachine.Kind, "metadata": map[string]any{"generateName": "a-"},
				"spec": map[string]any{"resource": resource},
			}}, api.UpdateOptions{})
			return err
		}
		for _, resource := range []map[string]any{
			{"cpu": int64(2), "memory": "4G"}, {"cpu": "500m", "memory": int64(1 << 30)}, {"cpu": "1e3", "memory": "1.5Gi"},
		} {
			require.NoError(w.t, create(resource), resource)
		}
		for field, resource := range map[string]any{
			"spec.resource.memory":                map[string]any{"cpu": int64(2)},
			"spec.resource.cpu":                   map[string]any{"cpu": "many", "memory": "4G"},
			"spec.resource":                       "large",
			"spec.resource.memory: Invalid value": map[string]any{"cpu": int64(2), "memory": true},
		} {
			err := create(resource)
			assert.True(w.t, api.IsInvalid(err), "%v: %v", resource, err)
			assert.ErrorContains(w.t, err, field)
		}
		vm := w.create("b")
		vm.Status.Phase = "Dancing"
		_, err := w.user.UpdateStatus(w.t.Context(), vm, api.UpdateOptions{})
		assert.True(w.t, api.IsInvalid(err), "%v", err)
	})
}
