package store

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

func TestObjectIsEncodedWithItsMetadataFirst(t *testing.T) {
	c := New(Config{}).Collection(configMaps)
	o, err := c.Create(Draft{
		Object: document(t,
			`{"kind":"ConfigMap","apiVersion":"v1","binaryData":{},"data":{"b":"<1>","a":"\"ü\""},"metadata":{
			"uid":"u1","resourceVersion":"77","name":"a","namespace":"default","labels":{"app":"x"},"deletionTimestamp":"2026-01-01T00:00:00Z",
			"ownerReferences":[{"uid":"u2","kind":"Pod"},{"kind":"no uid"},"nonsense"]}}`),
		Fields: map[string]string{"status.phase": "Running"},
	}, nil)
	require.NoError(t, err)

	metadata := `{"resourceVersion":"2","deletionTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"x"},"name":"a","namespace":"default",` +
		`"ownerReferences":[{"kind":"Pod","uid":"u2"},{"kind":"no uid"},"nonsense"],"uid":"u1"}`
	body := `{"metadata":` + metadata + `,"binaryData":{},"data":{"a":"\"ü\"","b":"\u003c1\u003e"}}`
	assert.Equal(t, body, string(o.Body()))
	assert.Equal(t, metadata, string(o.Metadata()))
	assert.Equal(t, `x{"kind":"ConfigMap","apiVersion":"v1",`+body[1:],
		string(o.AppendJSON([]byte("x"), "v1", "ConfigMap")))

	assert.Equal(t, Key{"default", "a"}, o.Key)
	assert.Equal(t, "u1", o.UID)
	assert.Equal(t, uint64(2), o.Version)
	assert.Equal(t, map[string]string{"app": "x"}, o.Labels)
	assert.Equal(t, map[string]string{"status.phase": "Running"}, o.Fields)
	assert.True(t, o.Deleting)

	later := *o.At(10)
	assert.Equal(t, strings.Replace(metadata, `"2"`, `"10"`, 1), string(later.Metadata()))
	later.Version, later.body, later.restStart, later.metadataEnd = o.Version, o.body, o.restStart, o.metadataEnd
	assert.Equal(t, *o, later, "the object of a deletion differs in its version only")

	tree := o.Decode()
	assert.Equal(t, "2", tree.GetResourceVersion())
	assert.Empty(t, tree.GetKind())
	require.NoError(t, tree.SetNested("changed", "data", "a"))
	assert.Equal(t, body, string(o.Body()), "the tree is the caller's own")
}

func TestWriterKeepsItsDraft(t *testing.T) {
	c := New(Config{}).Collection(configMaps)
	d := draft(Key{"default", "a"}, "1")
	d.Fields = map[string]string{"f": "1"}
	o, err := c.Create(d, nil)
	require.NoError(t, err)
	require.NoError(t, d.Object.SetNested("2", "data", "value"))
	d.Fields["f"] = "2"
	assert.Equal(t, "1", valueOf(o))
	assert.Equal(t, "1", o.Fields["f"])
	assert.Equal(t, "ConfigMap", d.Object.GetKind())
}

// A stored tree decodes to the same tree.
func TestStoredTreesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Bool().
			AsAny())).Draw(t, "data")
		labels := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "labels")
		tree := map[string]any{"metadata": map[string]any{"name": rapid.StringN(1, 20, 40).Draw(t, "name"),
			"labels": anyMap(labels)}, "data": data}
		s := New(Config{})
		o, err := s.Collection(configMaps).Create(Draft{Object: &api.Unstructured{Object: tree}}, nil)
		require.NoError(t, err)
		back := o.Decode()
		require.Equal(t, "2", back.GetResourceVersion())
		back.RemoveNested("metadata", "resourceVersion")
		require.Equal(t, tree, back.Object)
		require.True(t, maps.Equal(labels, o.Labels))
		var metadata map[string]any
		require.NoError(t, json.Unmarshal(o.Metadata(), &metadata))
		require.True(t, json.Valid(o.AppendJSON(nil, "v1", "Kind \"of\"")))
	})
}

func anyMap(m map[string]string) map[string]any {
	result := map[string]any{}
	for key, value := range m {
		result[key] = value
	}
	return result
}

func TestPreviewStoresNothing(t *testing.T) {
	draft := Draft{Object: &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "resourceVersion": "99"}, "data": map[string]any{"k": "v"},
	}}}
	for version, want := range map[uint64]string{
		0:  `{"metadata":{"name":"a"},"data":{"k":"v"}}`,
		12: `{"metadata":{"resourceVersion":"12","name":"a"},"data":{"k":"v"}}`,
	} {
		object := Preview(draft, version)
		assert.Equal(t, want, string(object.Body()))
		assert.JSONEq(t, string(object.Metadata()),
			string(object.Body()[len(`{"metadata":`):len(object.Metadata())+len(`{"metadata":`)]))
		assert.Equal(t, byte('}'), object.Metadata()[len(object.Metadata())-1])
		assert.Equal(t, version, object.Version)
	}
}
