package schema

// Prune makes of a document what remains of it when it has been read into its type and written again: fields that the type
// does not have are gone, and so are fields that are null, and empty ones where the type omits them. In lists and maps of plain
// values a null becomes the empty value. The tree is changed in place; it must have passed [Type.Check] without a TypeError.
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
		case value == nil && t.element != nil:
			tree[key] = t.element.empty()
		case value == nil, field != nil && field.omitted && isEmpty(value):
			delete(tree, key)
		case field.Kind() == Quantity:
			tree[key] = t.amount(value)
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

// resourceList is the type of the maps of resources, in which nothing is less than a thousandth.
const resourceList = "v1.ResourceList"

// amount writes a quantity of an object in the one form in which it is stored.
func (t *Type) amount(value any) any {
	a, ok := ParseAmount(value)
	switch {
	case !ok:
		return value
	case t.goType == resourceList:
		return a.Rounded(-3).String()
	}
	return a.String()
}

// isEmpty tells whether a value is the empty one of its type in Go.
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
