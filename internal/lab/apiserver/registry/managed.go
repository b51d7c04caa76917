package registry

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"time"

	"orrery/restclient/api"
)

// This file maintains metadata.managedFields: which client changed which fields of an object last,
// and when (KEP-555). A write makes its author the owner of the fields that it adds or changes,
// and takes them from the other owners. Clients cannot change the entries themselves.

// fieldSet is a set of fields in the format FieldsV1: {"f:data":{"f:a":{}}}. A field without
// fields below it is owned as a whole. A nil set is that of a field that is not owned.
type fieldSet = map[string]any

// maxManagers is how many entries an object keeps.
const maxManagers = 10

// setManagers sets the managedFields of next. old is empty for a new object.
func (w WriteOptions) setManagers(t Target, next, old *api.Unstructured) {
	before, _ := metadataOf(old)["managedFields"].([]any)
	all := ownable(next)
	own := changedFields(t.written(ownable(old)), t.written(all))
	entry := map[string]any{
		"manager": cmp.Or(w.FieldManager, "unknown"), "operation": "Update", "fieldsType": "FieldsV1",
		"apiVersion": t.Definition.GroupVersion().String(),
		"time":       timestamp(time.Now()),
	}
	if w.internal {
		entry["manager"] = "kube-apiserver"
	}
	if t.Subresource != "" {
		entry["subresource"] = t.Subresource
	}
	var after []any
	for _, one := range before {
		other := maps.Clone(one.(map[string]any)) // written below
		fields := leftFields(other["fieldsV1"].(fieldSet), own, all)
		switch {
		case fields == nil:
		case own != nil && sameManager(other, entry):
			own = joinFields(own, fields)
		default:
			other["fieldsV1"] = fields
			after = append(after, other)
		}
	}
	if own != nil {
		entry["fieldsV1"] = own
		after = append(after, entry)
	}
	delete(metadataOf(next), "managedFields")
	if len(after) > 0 {
		metadataOf(next)["managedFields"] = after[max(0, len(after)-maxManagers):]
	}
}

func sameManager(a, b map[string]any) bool {
	return a["manager"] == b["manager"] && a["apiVersion"] == b["apiVersion"] && a["subresource"] == b["subresource"]
}

// unownedMeta are the metadata fields that have no owner.
var unownedMeta = []string{
	"name", "namespace", "uid", "resourceVersion", "generation", "selfLink", "managedFields",
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// written returns the ownable fields of an object that the write may own.
func (t Target) written(fields map[string]any) map[string]any {
	fields = maps.Clone(fields)
	if t.Definition.Status && t.Subresource != "status" {
		delete(fields, "status")
	}
	return fields
}

// ownable returns the fields of an object that have owners.
func ownable(o *api.Unstructured) map[string]any {
	fields, metadata := maps.Clone(o.Object), maps.Clone(metadataOf(o))
	for _, name := range unownedMeta {
		delete(metadata, name)
	}
	if fields["metadata"] = metadata; len(metadata) == 0 {
		delete(fields, "metadata")
	}
	delete(fields, "kind")
	delete(fields, "apiVersion")
	return fields
}

// members returns the parts of a value that have owners of their own, by path element: the fields
// of an object, the values of a list of strings such as the finalizers, and the elements of a list
// with names or types, such as the conditions. Other lists are owned as a whole.
func members(value any) map[string]any {
	parts := map[string]any{}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			parts["f:"+name] = field
		}
	case []any:
		for _, item := range v {
			element := elementOf(item)
			if element == "" {
				return nil
			}
			parts[element] = item
		}
	}
	return parts
}

// elementOf returns the path element of a list's item, or "" if it has no identity.
func elementOf(item any) string {
	if _, isText := item.(string); isText {
		text, _ := json.Marshal(item)
		return "v:" + string(text)
	}
	fields, _ := item.(map[string]any)
	for _, key := range []string{"name", "type"} {
		if value, named := fields[key].(string); named {
			text, _ := json.Marshal(map[string]string{key: value})
			return "k:" + string(text)
		}
	}
	return ""
}

// changedFields returns the fields that next adds to old or changes.
func changedFields(old, next any) fieldSet {
	inner := members(next)
	if len(inner) == 0 {
		if reflect.DeepEqual(old, next) {
			return nil
		}
		return fieldSet{}
	}
	before, changed := members(old), fieldSet{}
	for element, value := range inner {
		if fields := changedFields(before[element], value); fields != nil {
			changed[element] = fields
		}
	}
	return orNil(changed)
}

// leftFields returns the owned fields that still exist in now and that the write has not taken.
func leftFields(owned, taken fieldSet, now any) fieldSet {
	switch {
	case now == nil, taken != nil && len(taken) == 0:
		return nil
	case len(owned) == 0 && taken == nil:
		return owned
	}
	inner, left := members(now), fieldSet{}
	for element, below := range owned {
		other, _ := taken[element].(fieldSet)
		if fields := leftFields(below.(fieldSet), other, inner[element]); fields != nil {
			left[element] = fields
		}
	}
	return orNil(left)
}

func joinFields(a, b fieldSet) fieldSet {
	joined := maps.Clone(a)
	for element, below := range b {
		if other, both := joined[element].(fieldSet); both {
			below = joinFields(other, below.(fieldSet))
		}
		joined[element] = below
	}
	return joined
}

func orNil(fields fieldSet) fieldSet {
	if len(fields) == 0 {
		return nil
	}
	return fields
}
