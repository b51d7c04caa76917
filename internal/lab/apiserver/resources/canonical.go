package resources

import (
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// canonical gives the quantities in a document the form in which kube-apiserver writes what it has read. What else is lost on that
// way (what the type does not know, what is null or empty) was removed before, by [schema.Type.Prune].
func canonical(t *schema.Type, o tree) {
	for key, value := range o {
		field, known := t.Field(key)
		if !known || field == nil {
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			canonical(field, v)
		case []any:
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
