// Package managed maintains metadata.managedFields: which client wrote which fields of an object
// last, and when (KEP-555). Every create, update and patch makes its author the owner of the fields
// that it adds or changes, and takes them from the other owners. Server-side apply, the other half
// of the KEP, is not implemented: all entries have the operation Update.
//
// The order of entries, the fields that have no owner, and the limit of ten entries are those of
// kube-apiserver 1.36.
package managed

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"orrery/internal/lab/apiserver/schema"
)

// Write describes a write.
type Write struct {
	// Manager is the name of the client; "" means "unknown".
	Manager string
	// APIVersion is the API version of the request, such as "apps/v1".
	APIVersion string
	// Subresource is "" for the object itself.
	Subresource string
	// Ignored are the top-level fields that such a write cannot change: "status" for an object
	// whose status is a subresource.
	Ignored []string
	// Now is the time of the write.
	Now time.Time
}

// limit is how many entries an object keeps. The oldest are merged into one of the manager ancient.
const (
	limit   = 10
	ancient = "ancient-changes"
)

// key identifies an entry.
type key struct{ manager, operation, apiVersion, subresource string }

// entry is an entry of managedFields.
type entry struct {
	key
	time   string
	fields *fields
}

// Create sets the managedFields of a new object.
func Create(t *schema.Type, object map[string]any, w Write) {
	delete(metadataOf(object), "managedFields")
	set(object, w.apply(nil, t, blank(t), object))
}

// Update sets the managedFields of next, which replaces old. An object without managedFields stays
// without. A client may set the managedFields itself, or remove them with an empty list.
func Update(t *schema.Type, old, next map[string]any, w Write) {
	sent, given := metadataOf(next)["managedFields"]
	delete(metadataOf(next), "managedFields")
	entries := parseEntries(metadataOf(old)["managedFields"])
	if w.Subresource == "" && given {
		if isReset(sent) {
			return
		}
		if own := parseEntries(sent); len(own) > 0 {
			entries = own
		}
	}
	if len(entries) > 0 {
		set(next, w.apply(entries, t, old, next))
	}
}

// KeepTimes reverts the managedFields of next to those of old if nothing but their times differs,
// so that a write that changes nothing stays one.
func KeepTimes(old, next map[string]any) {
	before, now := metadataOf(old)["managedFields"], metadataOf(next)["managedFields"]
	was, is := parseEntries(before), parseEntries(now)
	if len(was) != len(is) || reflect.DeepEqual(before, now) {
		return
	}
	for i := range was {
		if was[i].key != is[i].key || !reflect.DeepEqual(was[i].fields, is[i].fields) {
			return
		}
	}
	metadataOf(next)["managedFields"] = before
	if !sameObject(old, next) {
		metadataOf(next)["managedFields"] = now
	}
}

// sameObject compares two objects except for their kind and version.
func sameObject(old, next map[string]any) bool {
	for _, name := range slices.Collect(maps.Keys(old)) {
		if _, there := next[name]; !there && name != "kind" && name != "apiVersion" {
			return false
		}
	}
	for name, value := range next {
		switch name {
		case "kind", "apiVersion":
		case "metadata":
			a, b := maps.Clone(metadataOf(old)), maps.Clone(metadataOf(next))
			delete(a, "resourceVersion")
			delete(b, "resourceVersion")
			if !reflect.DeepEqual(a, b) {
				return false
			}
		default:
			if !reflect.DeepEqual(value, old[name]) {
				return false
			}
		}
	}
	return true
}

// unowned are the fields that have no owner, and unownedMeta those of the metadata.
var (
	unowned     = []string{"kind", "apiVersion"}
	unownedMeta = []string{"name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion"}
)

// apply returns the entries after the write.
func (w Write) apply(entries []entry, t *schema.Type, old, next map[string]any) []entry {
	changed, removed := compare(t, old, next)
	for _, name := range w.Ignored {
		delete(changed.inner, "f:"+name)
		delete(removed.inner, "f:"+name)
	}
	for _, name := range unowned {
		delete(changed.inner, "f:"+name)
	}
	if metadata := changed.at("f:metadata"); metadata != nil {
		metadata.member = false
		for _, name := range unownedMeta {
			delete(metadata.inner, "f:"+name)
		}
		if metadata.empty() {
			delete(changed.inner, "f:metadata")
		}
	}
	self := key{cmp.Or(w.Manager, "unknown"), "Update", w.APIVersion, w.Subresource}
	own := changed
	var after []entry
	for _, e := range entries {
		e.fields = e.fields.minus(changed).minus(removed)
		if e.key == self && !changed.empty() {
			own = own.plus(e.fields)
			continue
		}
		if !e.fields.empty() {
			after = append(after, e)
		}
	}
	if !changed.empty() {
		after = append(after, entry{self, w.Now.UTC().Format(time.RFC3339), own})
	}
	return capped(after)
}

// capped merges the oldest entries of each API version until no more than limit are left.
func capped(entries []entry) []entry {
	if len(entries) <= limit {
		return entries
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.manager, b.manager))
	})
	for i := 1; i < len(entries) && len(entries) > limit; {
		first := slices.IndexFunc(entries[:i], func(e entry) bool { return e.apiVersion == entries[i].apiVersion })
		if first < 0 {
			i++
			continue
		}
		entries[first] = entry{
			key{ancient, "Update", entries[i].apiVersion, ""}, entries[i].time, entries[first].fields.plus(entries[i].fields),
		}
		entries = slices.Delete(entries, i, i+1)
	}
	return entries
}

func metadataOf(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata
}

// isReset reports whether a client removes the managedFields: null has no effect, but an empty list
// or one empty entry is.
func isReset(sent any) bool {
	list, ok := sent.([]any)
	if !ok || len(list) > 1 {
		return false
	}
	if len(list) == 0 {
		return true
	}
	only, _ := list[0].(map[string]any)
	return len(only) == 0
}

func set(object map[string]any, entries []entry) {
	if len(entries) == 0 {
		return
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.time, b.time), cmp.Compare(a.manager, b.manager),
			cmp.Compare(a.apiVersion, b.apiVersion), cmp.Compare(a.subresource, b.subresource))
	})
	list := make([]any, len(entries))
	for i, e := range entries {
		one := map[string]any{
			"manager": e.manager, "operation": e.operation, "apiVersion": e.apiVersion, "time": e.time,
			"fieldsType": "FieldsV1", "fieldsV1": e.fields.tree(),
		}
		if e.subresource != "" {
			one["subresource"] = e.subresource
		}
		list[i] = one
	}
	metadataOf(object)["managedFields"] = list
}

// parseEntries decodes managedFields, or returns nil if an entry is invalid.
func parseEntries(value any) []entry {
	list, _ := value.([]any)
	entries := make([]entry, len(list))
	for i, one := range list {
		document, _ := one.(map[string]any)
		text := func(name string) string { s, _ := document[name].(string); return s }
		tree, ok := document["fieldsV1"].(map[string]any)
		if !ok || text("fieldsType") != "FieldsV1" {
			return nil
		}
		root := parse(tree)
		root.member = false
		entries[i] = entry{key{text("manager"), text("operation"), text("apiVersion"), text("subresource")}, text("time"), root}
	}
	return entries
}
