package patch_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/patch"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

func nilIf(none bool, t testing.TB) *schema.Type {
	if none {
		return nil
	}
	return typeOf(t, "Pod")
}

// tree generates a document without nulls, which a merge patch cannot set.
func tree(t *rapid.T, depth int) map[string]any {
	out := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "size") {
		out[rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key")] = value(t, depth)
	}
	return out
}

func value(t *rapid.T, depth int) any {
	sorts := 4
	if depth > 0 {
		sorts = 6
	}
	switch rapid.IntRange(0, sorts-1).Draw(t, "sort") {
	case 0:
		return rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "text")
	case 1:
		return int64(rapid.IntRange(0, 3).Draw(t, "number"))
	case 2:
		return rapid.Bool().Draw(t, "truth")
	case 3:
		return []any{"l"}
	case 4:
		return []any{tree(t, depth-1), "x"}
	default:
		return tree(t, depth-1)
	}
}

// difference returns the merge patch from one document to another.
func difference(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for key := range from {
		if _, ok := to[key]; !ok {
			out[key] = nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to)) {
		inner, isMap := to[key].(map[string]any)
		if old, wasMap := from[key].(map[string]any); isMap && wasMap {
			out[key] = difference(old, inner)
		} else {
			out[key] = to[key]
		}
	}
	return out
}

func apply(t *rapid.T, kind api.PatchType, document, change map[string]any, typ *schema.Type) map[string]any {
	data, err := json.Marshal(change)
	require.NoError(t, err)
	patched, err := patch.Apply(kind, document, data, typ)
	require.NoError(t, err, "%s", data)
	return patched
}

func TestMergePatchLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := tree(t, 3), tree(t, 3)
		require.Equal(t, from, apply(t, api.MergePatchType, from, map[string]any{}, nil), "an empty patch changed the document")
		change := difference(from, to)
		once := apply(t, api.MergePatchType, from, change, nil)
		require.Equal(t, to, once, "the patch does not lead to the document")
		require.Equal(t, once, apply(t, api.MergePatchType, once, change, nil), "not idempotent")
		any := tree(t, 2)
		once = apply(t, api.MergePatchType, from, any, nil)
		require.Equal(t, once, apply(t, api.MergePatchType, once, any, nil), "an arbitrary patch is not idempotent")
	})
}

// pod generates a pod with lists of each kind.
func pod(t *rapid.T) map[string]any {
	names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID[string])
	spec := map[string]any{"containers": []any{}}
	for _, name := range names.Draw(t, "containers") {
		container := map[string]any{"name": name, "image": rapid.SampledFrom([]string{"i", "j"}).Draw(t, "image")}
		var env []any
		for _, variable := range names.Draw(t, "env") {
			env = append(env, map[string]any{"name": variable, "value": rapid.SampledFrom([]string{"1", "2"}).Draw(t, "value")})
		}
		if env != nil {
			container["env"] = env
		}
		spec["containers"] = append(spec["containers"].([]any), container)
	}
	finalizers := []any{}
	for _, name := range names.Draw(t, "finalizers") {
		finalizers = append(finalizers, "x.y/"+name)
	}
	metadata := map[string]any{"finalizers": finalizers}
	if rapid.Bool().Draw(t, "labels") {
		metadata["labels"] = map[string]any{"l": rapid.SampledFrom([]string{"1", "2"}).Draw(t, "label")}
	}
	return map[string]any{"metadata": metadata, "spec": spec}
}

func TestStrategicMergeLaws(t *testing.T) {
	typ := typeOf(t, "Pod")
	rapid.Check(t, func(t *rapid.T) {
		document, change := pod(t), pod(t)
		require.Equal(t, document, apply(t, api.StrategicMergePatchType, document, map[string]any{}, typ), "an empty patch changed the document")
		require.Equal(t, document, apply(t, api.StrategicMergePatchType, document, document, typ), "merging a document with itself changed it")
		once := apply(t, api.StrategicMergePatchType, document, change, typ)
		require.Equal(t, once, apply(t, api.StrategicMergePatchType, once, change, typ), "not idempotent")
		replaced := map[string]any{"$patch": "replace"}
		maps.Copy(replaced, change)
		require.Equal(t, change, apply(t, api.StrategicMergePatchType, document, replaced, typ), "the replacement kept old content")
		require.Equal(t, map[string]any{}, apply(t, api.StrategicMergePatchType, document, map[string]any{"$patch": "delete"}, typ))
	})
}

// Keys of a list stay unique, and no element is lost.
func TestMergedListsAreSets(t *testing.T) {
	typ := typeOf(t, "Pod")
	rapid.Check(t, func(t *rapid.T) {
		document, change := pod(t), pod(t)
		patched := apply(t, api.StrategicMergePatchType, document, change, typ)
		want := map[string]bool{}
		for _, from := range []map[string]any{document, change} {
			for _, container := range from["spec"].(map[string]any)["containers"].([]any) {
				want[container.(map[string]any)["name"].(string)] = true
			}
		}
		got := map[string]bool{}
		for _, container := range patched["spec"].(map[string]any)["containers"].([]any) {
			name := container.(map[string]any)["name"].(string)
			require.False(t, got[name], "%s is a duplicate", name)
			got[name] = true
		}
		require.Equal(t, want, got)
	})
}
