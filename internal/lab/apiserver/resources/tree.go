package resources

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// tree is a JSON object. All functions here accept nil and values of unexpected types: the schema
// checks built-in types, but custom ones may hold anything.
type tree = map[string]any

// child returns the object under a key, or nil.
func child(t tree, key string) tree {
	c, _ := t[key].(map[string]any)
	return c
}

// ensure returns the object under a key, creating it if necessary.
func ensure(t tree, key string) tree {
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

func integer(t tree, key string) int64 {
	n, _ := t[key].(int64)
	return n
}

func boolean(t tree, key string) bool {
	b, _ := t[key].(bool)
	return b
}

func has(t tree, key string) bool { return t[key] != nil }

// extend appends to the list under a key, of which it makes a copy.
func extend(t tree, key string, value any) {
	list, _ := t[key].([]any)
	t[key] = append(slices.Clone(list), value)
}

// fill sets an absent key.
func fill(t tree, key string, value any) {
	if t[key] == nil {
		t[key] = value
	}
}

// fillText sets a key that is absent or "", which is the same for most fields.
func fillText(t tree, key, value string) {
	if t[key] == nil || t[key] == "" {
		t[key] = value
	}
}

// keep copies a field from old to o.
func keep(o, old *api.Unstructured, path ...string) {
	value := old.Nested(path...)
	if value == nil {
		o.RemoveNested(path...)
		return
	}
	_ = o.SetNested(clone(value), path...)
}

func clone(value any) any {
	return (&api.Unstructured{Object: tree{"": value}}).DeepCopy().Object[""]
}

// decodeJSON decodes any value with the types of [api.Unstructured].
func decodeJSON(data []byte) (any, error) {
	var wrapped api.Unstructured // only objects can be decoded into it
	err := json.Unmarshal(slices.Concat([]byte(`{"":`), data, []byte("}")), &wrapped)
	return wrapped.Object[""], err
}

func encoded(value any) string { return string(appendJSON(nil, value)) }

// join joins two parts of a path.
func join(path, field string) string { return strings.TrimPrefix(path+"."+field, ".") }

func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// same compares two JSON values. Absent, null, and an empty list or map are equal.
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

// Errors collects validation errors in the order in which they are found.
type Errors []FieldError

// Wrong returns one error.
func Wrong(kind api.CauseType, field string, value any, detail string) Errors {
	return Errors{{Type: kind, Field: field, Value: value, Detail: detail}}
}

func (m *Errors) Add(kind api.CauseType, field string, value any, detail string) {
	*m = append(*m, FieldError{Type: kind, Field: field, Value: value, Detail: detail})
}

func (m *Errors) required(field, detail string) {
	m.Add(FieldRequired, field, nil, detail)
}

func (m *Errors) Invalid(field string, value any, detail string) {
	m.Add(FieldInvalid, field, value, detail)
}

func (m *Errors) Forbidden(field, detail string) {
	m.Add(FieldForbidden, field, nil, detail)
}

// names adds one error for each message.
func (m *Errors) names(field, value string, sentences []string) {
	for _, sentence := range sentences {
		m.Invalid(field, value, sentence)
	}
}

// immutable checks that a field is unchanged.
func (m *Errors) immutable(field string, value, old any) {
	if !same(value, old) {
		m.Invalid(field, value, "field is immutable")
	}
}
