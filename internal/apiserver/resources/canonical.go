package resources

import (
	"orrery/internal/apiserver/schema"
	"orrery/restclient/api"
)

// canonical makes of a document what is left of it when kube-apiserver has read it into its type and written it again:
// empty lists and maps are left out, and quantities have their canonical form. What the type does not know, and what is
// null, was removed before.
func canonical(t *schema.Type, o tree) {
	for key, value := range o {
		field, known := t.Field(key)
		if !known || field == nil {
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			if len(v) == 0 && field.Values() != nil {
				delete(o, key)
				continue
			}
			canonical(field, v)
		case []any:
			if len(v) == 0 {
				delete(o, key)
				continue
			}
			canonicalItems(field.Items(), v)
		default:
			if field.Kind() == schema.Quantity {
				o[key] = canonicalQuantity(v)
			}
		}
	}
}

func canonicalItems(t *schema.Type, list []any) {
	if t == nil {
		return
	}
	for _, item := range list {
		if o, ok := item.(map[string]any); ok {
			canonical(t, o)
		}
	}
}

// canonicalized returns a Default hook that makes documents of the kind canonical before it fills in what the type says.
func canonicalized(gvk api.GroupVersionKind, fillIn func(o *api.Unstructured)) func(o *api.Unstructured) {
	return func(o *api.Unstructured) {
		if t, ok := schema.Builtin().Type(gvk); ok && o.Object != nil {
			canonical(t, o.Object)
		}
		if o.Object == nil {
			o.Object = tree{}
		}
		if fillIn != nil {
			fillIn(o)
		}
	}
}
