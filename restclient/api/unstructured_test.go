package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

const wireWidget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"shop","uid":"u","resourceVersion":"7",
 "labels":{"a":"b","odd":7},"annotations":{"n":"1"},"finalizers":["x","y",3],"deletionTimestamp":"2026-03-01T13:00:00Z"},
 "spec":{"big":9007199254740993,"ratio":0.5,"huge":1e400,"large":123456789012345678901234567890,"on":true,"list":[1,{"a":null}],"text":"t"}}`

func widget(t *testing.T) *api.Unstructured {
	t.Helper()
	var u api.Unstructured
	require.NoError(t, json.Unmarshal([]byte(wireWidget), &u))
	return &u
}

func TestUnstructuredAccessors(t *testing.T) {
	u := widget(t)
	assert.Equal(t, "Widget", u.GetKind())
	assert.Equal(t, "example.com/v1", u.GetAPIVersion())
	assert.Equal(t, "w", u.GetName())
	assert.Equal(t, "shop", u.GetNamespace())
	assert.Equal(t, "u", u.GetUID())
	assert.Equal(t, "7", u.GetResourceVersion())
	assert.Equal(t, map[string]string{"a": "b"}, u.GetLabels())
	assert.Equal(t, map[string]string{"n": "1"}, u.GetAnnotations())
	assert.Equal(t, []string{"x", "y"}, u.GetFinalizers())
	assert.Equal(t, time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC), u.GetDeletionTimestamp().Time)
	assert.EqualValues(t, 9007199254740993, u.NestedInt64("spec", "big"), "float64 would have rounded it")
	assert.Equal(t, 0.5, u.Nested("spec", "ratio"))
	assert.Equal(t, json.Number("1e400"), u.Nested("spec", "huge"), "what fits no number keeps its digits")
	assert.Equal(t, json.Number("123456789012345678901234567890"), u.Nested("spec", "large"))
	back, err := json.Marshal(u)
	require.NoError(t, err)
	again := &api.Unstructured{}
	require.NoError(t, again.UnmarshalJSON(back))
	assert.Equal(t, u, again)
	assert.True(t, u.NestedBool("spec", "on"))
	assert.Equal(t, []any{int64(1), map[string]any{"a": nil}}, u.Nested("spec", "list"))
}

// Accessors of a document with unexpected types.
func TestUnstructuredAccessorsNeverPanic(t *testing.T) {
	for _, text := range []string{`{}`, `{"metadata":7}`,
		`{"metadata":{"name":7,"labels":"x","finalizers":{},"deletionTimestamp":"soon"}}`, `{"metadata":null}`,
		`null`} {
		var u api.Unstructured
		require.NoError(t, json.Unmarshal([]byte(text), &u))
		assert.Empty(t, u.GetName())
		assert.Empty(t, u.GetLabels())
		assert.Empty(t, u.GetFinalizers())
		assert.Nil(t, u.GetDeletionTimestamp())
		assert.Zero(t, u.NestedInt64("metadata", "name", "deeper"))
		assert.False(t, u.NestedBool("metadata"))
		u.RemoveNested("metadata", "name", "deeper")
	}
	var zero api.Unstructured
	assert.Empty(t, zero.GetName())
	assert.Equal(t, &api.Unstructured{}, zero.DeepCopy())
}

func TestUnstructuredChanges(t *testing.T) {
	var u api.Unstructured
	require.NoError(t, u.SetNested("w", "metadata", "name"))
	require.NoError(t, u.SetNested(int64(3), "spec", "replicas"))
	require.NoError(t, u.SetNested(true, "top"))
	data, err := json.Marshal(&u)
	require.NoError(t, err)
	assert.Equal(t, `{"metadata":{"name":"w"},"spec":{"replicas":3},"top":true}`, string(data))
	assert.EqualError(t, u.SetNested("x", "metadata", "name", "first"), "metadata.name is a string, not a map")
	u.RemoveNested("spec", "replicas")
	u.RemoveNested("top")
	assert.Equal(t, map[string]any{"metadata": map[string]any{"name": "w"}, "spec": map[string]any{}}, u.Object)
}

func TestUnstructuredRefusesWhatIsNoDocument(t *testing.T) {
	for _, text := range []string{`[]`, `7`, `{"a":}`, `{} {}`, `{}x`, ``} {
		assert.Error(t, new(api.Unstructured).UnmarshalJSON([]byte(text)), text)
	}
}
