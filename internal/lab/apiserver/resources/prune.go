package resources

import "fmt"

// Prune reduces a document to what remains after decoding it into its Go type and encoding it
// again: it drops unknown fields, nulls, and empty fields that the type omits. A quantity that is a
// number becomes text. The tree is changed in place and must have passed [Type.Check] without a
// TypeError.
func (t *Type) Prune(tree map[string]any) {
	if t == nil || t.kind != Object {
		return
	}
	for key, value := range tree {
		field, known := t.Field(key)
		if value != nil {
			field.prune(value)
		}
		switch {
		case !known:
			delete(tree, key)
		case value == nil && t.custom:
		case value == nil, field != nil && field.omitted && isEmpty(value):
			delete(tree, key)
		case field.Kind() == Quantity:
			tree[key] = fmt.Sprint(value)
		}
	}
}

func (t *Type) prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		t.Prune(v)
	case []any:
		for _, inner := range v {
			t.Items().prune(inner)
		}
	}
}

// isEmpty reports whether a value is the zero value of its Go type.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case bool:
		return !v
	}
	return false
}
