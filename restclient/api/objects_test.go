package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// documents makes random objects: the fields that a type declares, with values of their kinds,
// beside others at every level.
type documents struct{ *rand.Rand }

func (d documents) text() string { return fmt.Sprintf("text-%d", d.IntN(1000)) }

// value returns any value that JSON can have.
func (d documents) value(depth int) any {
	switch kind := d.IntN(6); {
	case kind == 0 && depth > 0:
		list := []any{}
		for range d.IntN(3) {
			list = append(list, d.value(depth-1))
		}
		return list
	case kind <= 2 && depth > 0:
		return d.with(map[string]any{}, depth-1)
	case kind == 3:
		return float64(d.IntN(1 << 20))
	case kind == 4:
		return d.IntN(2) == 0
	}
	return d.text()
}

// with adds fields that no type declares.
func (d documents) with(object map[string]any, depth int) map[string]any {
	for range d.IntN(4) {
		object["x"+d.text()] = d.value(depth)
	}
	return object
}

// object returns an object with these fields in spec and status, or of the object itself.
func (d documents) object(fields map[string]any) map[string]any {
	object := map[string]any{
		"kind": "Thing", "apiVersion": "example.org/v1",
		"metadata": d.with(map[string]any{
			"name": d.text(), "uid": d.text(), "resourceVersion": "7", "labels": map[string]any{"a": d.text()},
			"ownerReferences": []any{d.with(map[string]any{"apiVersion": "v1", "kind": "Owner",
				"name": d.text(), "uid": d.text()}, 1)},
		}, 2),
	}
	for name, value := range fields {
		if inner, ok := value.(map[string]any); ok && (name == "spec" || name == "status") {
			value = d.with(inner, 3)
		}
		object[name] = value
	}
	return d.with(object, 2)
}

// FuzzTypesLoseNothing reads a random object into each type and writes it back.
func FuzzTypesLoseNothing(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	kinds := []struct {
		into   func() any
		fields func(d documents) map[string]any
	}{
		{func() any { return &api.Pod{} }, func(d documents) map[string]any {
			return map[string]any{
				"spec": map[string]any{
					"nodeName": d.text(), "terminationGracePeriodSeconds": float64(d.IntN(60)),
					"containers": []any{d.value(3), map[string]any{"name": d.text(), "image": d.text()}},
				},
				"status": map[string]any{"phase": "Running", "conditions": []any{d.value(2)}},
			}
		}},
		{func() any { return &api.ConfigMap{} }, func(d documents) map[string]any {
			return map[string]any{"data": map[string]any{"key": d.text()},
				"binaryData": map[string]any{"bytes": "AAE="}}
		}},
		{func() any { return &api.Namespace{} }, func(documents) map[string]any {
			return map[string]any{
				"spec":   map[string]any{"finalizers": []any{"kubernetes"}},
				"status": map[string]any{"phase": "Active"},
			}
		}},
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d := documents{rand.New(rand.NewPCG(seed, 1))}
		for _, kind := range kinds {
			read, err := json.Marshal(d.object(kind.fields(d)))
			require.NoError(t, err)
			object := kind.into()
			require.NoError(t, json.Unmarshal(read, object), "%T of %s", object, read)
			written, err := json.Marshal(object)
			require.NoError(t, err)
			assert.JSONEq(t, string(read), string(written), "%T", object)
		}
	})
}

// A document that cannot be read leaves the object as it was.
func TestAFailedReadChangesNothing(t *testing.T) {
	object := api.ConfigMap{Data: map[string]string{"key": "value"}}
	require.Error(t, json.Unmarshal([]byte(`{"kind": "other", "data": 7}`), &object))
	assert.Equal(t, api.ConfigMap{Data: map[string]string{"key": "value"}}, object)
}
