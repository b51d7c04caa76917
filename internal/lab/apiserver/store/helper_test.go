package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

const configMaps = "/registry/configmaps"

func document(t require.TestingT, text string) *api.Unstructured {
	tree := new(api.Unstructured)
	require.NoError(t, tree.UnmarshalJSON([]byte(text)))
	return tree
}

// draft returns a ConfigMap with one value.
func draft(key Key, value string) Draft {
	metadata := map[string]any{"name": key.Name, "uid": "uid-" + key.Name}
	if key.Namespace != "" {
		metadata["namespace"] = key.Namespace
	}
	return Draft{Object: &api.Unstructured{Object: map[string]any{
		"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": map[string]any{"value": value},
	}}}
}

func valueOf(o *Object) string { return o.Decode().NestedString("data", "value") }

func create(t require.TestingT, c *Collection, key Key, value string) *Object {
	o, err := c.Create(draft(key, value), nil)
	require.NoError(t, err)
	return o
}

func replace(t require.TestingT, c *Collection, old *Object, value string) *Object {
	o, swapped, err := c.Replace(old, draft(old.Key, value))
	require.NoError(t, err)
	require.True(t, swapped)
	return o
}

func remove(t require.TestingT, c *Collection, old *Object) *Object {
	last, swapped := c.Delete(old)
	require.True(t, swapped)
	return last
}

func keysOf(v *View, namespace string, after Key) []string {
	keys := []string{}
	v.Ascend(namespace, after, func(o *Object) bool {
		keys = append(keys, o.Key.String())
		return true
	})
	return keys
}

func view(t testing.TB, c *Collection, at uint64) *View {
	v, err := c.View(at)
	require.NoError(t, err)
	return v
}
