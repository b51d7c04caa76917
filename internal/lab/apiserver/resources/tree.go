package resources

import (
	"reflect"
	"slices"

	"orrery/restclient/api"
)

// tree is an object in a document. All functions here may be given nil, and documents in which other types stand than
// they expect: the schema has refused those of built-in types, but nothing vouches for custom ones.
type tree = map[string]any

// child returns the object under a key, nil if there is none.
func child(t tree, key string) tree {
	c, _ := t[key].(map[string]any)
	return c
}

// made returns the object under a key, and puts an empty one there if there is none.
func made(t tree, key string) tree {
	if c, ok := t[key].(map[string]any); ok {
		return c
	}
	c := tree{}
	t[key] = c
	return c
}

// items returns the objects in the list under a key.
func items(t tree, key string) []tree {
	list, _ := t[key].([]any)
	found := make([]tree, len(list))
	for i, item := range list {
		found[i], _ = item.(map[string]any)
	}
	return found
}

// texts returns the strings in the list under a key.
func texts(t tree, key string) []string {
	list, _ := t[key].([]any)
	found := make([]string, 0, len(list))
	for _, item := range list {
		if s, ok := item.(string); ok {
			found = append(found, s)
		}
	}
	return found
}

func text(t tree, key string) string {
	s, _ := t[key].(string)
	return s
}

func whole(t tree, key string) int64 {
	n, _ := t[key].(int64)
	return n
}

func truth(t tree, key string) bool {
	b, _ := t[key].(bool)
	return b
}

func has(t tree, key string) bool { return t[key] != nil }

// fill stores a value under a key that has none.
func fill(t tree, key string, value any) {
	if t[key] == nil {
		t[key] = value
	}
}

// fillText stores a text under a key that has none or the empty one, which for most fields is the same.
func fillText(t tree, key, value string) {
	if t[key] == nil || t[key] == "" {
		t[key] = value
	}
}

// keep makes a field of the object what it is in the old one, by a copy.
func keep(o, old *api.Unstructured, path ...string) {
	value := old.Nested(path...)
	if value == nil {
		o.RemoveNested(path...)
		return
	}
	_ = o.SetNested(cloneValue(value), path...)
}

func cloneValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return (&api.Unstructured{Object: v}).DeepCopy().Object
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = cloneValue(out[i])
		}
		return out
	}
	return value
}

// same compares two values of documents. Nothing, null, and an empty list or map are the same.
func same(a, b any) bool {
	if isNothing(a) && isNothing(b) {
		return true
	}
	return reflect.DeepEqual(a, b)
}

func isNothing(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
