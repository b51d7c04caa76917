package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

func TestPreviewStoresNothing(t *testing.T) {
	draft := store.Draft{Object: &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "resourceVersion": "99"}, "data": map[string]any{"k": "v"},
	}}}
	for version, want := range map[uint64]string{
		0:  `{"metadata":{"name":"a"},"data":{"k":"v"}}`,
		12: `{"metadata":{"resourceVersion":"12","name":"a"},"data":{"k":"v"}}`,
	} {
		object, err := store.Preview(draft, version)
		require.NoError(t, err)
		assert.Equal(t, want, string(object.Body()))
		assert.JSONEq(t, string(object.Metadata()), string(object.Body()[len(`{"metadata":`):len(object.Metadata())+len(`{"metadata":`)]))
		assert.Equal(t, byte('}'), object.Metadata()[len(object.Metadata())-1])
		assert.Equal(t, version, object.Version)
	}
	_, err := store.Preview(store.Draft{Object: &api.Unstructured{}}, 0)
	assert.ErrorAs(t, err, new(*store.KeyError))
}

func TestAtChangesTheVersionAlone(t *testing.T) {
	draft := store.Draft{Object: &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}}}
	object, err := store.Preview(draft, 3)
	require.NoError(t, err)
	later := object.At(12345)
	assert.Equal(t, `{"metadata":{"resourceVersion":"12345","name":"a"}}`, string(later.Body()))
	assert.Equal(t, uint64(3), object.Version, "the original is unchanged")
}
