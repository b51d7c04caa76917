package garbagecollector

import (
	"orrery/restclient/api"
)

// reference is an owner reference, as far as it matters here.
type reference struct {
	kind     api.GroupVersionKind
	name     string
	uid      string
	blocking bool // blockOwnerDeletion: the owner's foreground deletion waits for the dependent
}

// referencesOf reads the owner references of an object. What does not look like one is left out: it names nobody.
func referencesOf(o *api.Unstructured) []reference {
	list, _ := o.Nested("metadata", "ownerReferences").([]any)
	var found []reference
	for _, one := range list {
		fields := &api.Unstructured{}
		fields.Object, _ = one.(map[string]any)
		version, err := api.ParseGroupVersion(fields.NestedString("apiVersion"))
		if err != nil || fields.NestedString("uid") == "" {
			continue
		}
		found = append(found, reference{
			kind:     api.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: fields.NestedString("kind")},
			name:     fields.NestedString("name"),
			uid:      fields.NestedString("uid"),
			blocking: fields.NestedBool("blockOwnerDeletion"),
		})
	}
	return found
}

// removeReferences takes the references to some UIDs out of an object and tells whether there were any.
func removeReferences(o *api.Unstructured, uids map[string]bool) bool {
	list, _ := o.Nested("metadata", "ownerReferences").([]any)
	kept := make([]any, 0, len(list))
	for _, one := range list {
		fields, _ := one.(map[string]any)
		if uid, _ := fields["uid"].(string); !uids[uid] {
			kept = append(kept, one)
		}
	}
	switch {
	case len(kept) == len(list):
		return false
	case len(kept) == 0:
		o.RemoveNested("metadata", "ownerReferences")
	default:
		_ = o.SetNested(kept, "metadata", "ownerReferences") // metadata is a map, there was a list in it
	}
	return true
}

// unblock makes no reference of an object hold its owner and tells whether one did.
func unblock(o *api.Unstructured) bool {
	list, _ := o.Nested("metadata", "ownerReferences").([]any)
	changed := false
	for _, one := range list {
		if fields, ok := one.(map[string]any); ok && fields["blockOwnerDeletion"] == true {
			fields["blockOwnerDeletion"] = false
			changed = true
		}
	}
	return changed
}
