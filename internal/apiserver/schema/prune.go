package schema

// Prune makes of a document what remains of it when it is read into its type: fields that the type does not have are removed,
// and so are fields that are null. In lists and maps of plain values a null becomes the empty value. The tree is changed in
// place; it must have passed [Type.Check] without a TypeError.
func (t *Type) Prune(tree map[string]any) {
	if t == nil || t.kind != Object {
		return
	}
	for key, value := range tree {
		field, known := t.Field(key)
		switch {
		case !known:
			delete(tree, key)
		case value != nil:
			field.prune(value)
		case t.custom:
		case t.element == nil:
			delete(tree, key)
		default:
			tree[key] = t.element.empty()
		}
	}
}

func (t *Type) prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		t.Prune(v)
	case []any:
		element := t.Items()
		for i, inner := range v {
			if inner != nil {
				element.prune(inner)
			} else if element != nil && !element.custom {
				v[i] = element.empty()
			}
		}
	}
}

// empty is the value that a null stands for.
func (t *Type) empty() any {
	switch t.Kind() {
	case Object:
		return map[string]any{}
	case String:
		return ""
	case Integer, IntOrString, Number:
		return int64(0)
	case Boolean:
		return false
	case Quantity:
		return "0"
	}
	return nil
}
