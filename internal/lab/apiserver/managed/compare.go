package managed

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"

	"orrery/internal/lab/apiserver/schema"
)

// absence stands for a value that is not there; null is a value.
type absence struct{}

// compare returns the fields that next adds or changes, and those that it lacks.
func compare(t *schema.Type, old, next any) (changed, removed *fields) {
	changed, removed = &fields{}, &fields{}
	oldMap, isOldMap := old.(map[string]any)
	nextMap, isNextMap := next.(map[string]any)
	oldList, isOldList := old.([]any)
	nextList, isNextList := next.([]any)
	switch {
	case (isOldMap || isNothing(old)) && (isNextMap || isNothing(next)) && len(oldMap)+len(nextMap) > 0 && !t.Atomic():
		compareMaps(t, oldMap, nextMap, changed, removed)
	case (isOldList || isNothing(old)) && (isNextList || isNothing(next)) && len(oldList)+len(nextList) > 0 && isAssociative(t):
		compareElements(t, oldList, nextList, changed, removed)
	case old != absence{} && next != absence{}:
		changed.member = !reflect.DeepEqual(old, next)
	}
	changed.member = changed.member || old == absence{}
	removed.member = next == absence{}
	return changed, removed
}

func isNothing(value any) bool { return value == nil || value == absence{} }

func isAssociative(t *schema.Type) bool { return t.ListType() == "map" || t.ListType() == "set" }

func compareMaps(t *schema.Type, old, next map[string]any, changed, removed *fields) {
	for name, before := range old {
		if _, there := next[name]; !there {
			field, _ := t.Field(name)
			_, gone := compare(field, before, absence{})
			removed.add("f:"+name, gone)
		}
	}
	for name, now := range next {
		field, _ := t.Field(name)
		before, there := old[name]
		if !there {
			before = absence{}
		}
		more, gone := compare(field, before, now)
		changed.add("f:"+name, more)
		removed.add("f:"+name, gone)
	}
}

// compareElements compares lists whose elements have an identity: their keys or their value.
func compareElements(t *schema.Type, old, next []any, changed, removed *fields) {
	before, now := elements(t, old), elements(t, next)
	for element, value := range before {
		if _, there := now[element]; !there {
			_, gone := compare(t.Items(), value, absence{})
			removed.add(element, gone)
		}
	}
	for element, value := range now {
		was, there := before[element]
		if !there {
			was = absence{}
		}
		more, gone := compare(t.Items(), was, value)
		changed.add(element, more)
		removed.add(element, gone)
	}
}

// elements returns the elements of a list by their path element. Of duplicates the last counts.
func elements(t *schema.Type, list []any) map[string]any {
	found := make(map[string]any, len(list))
	for _, value := range list {
		if t.ListType() == "set" {
			found["v:"+encoded(value)] = value
			continue
		}
		fields, _ := value.(map[string]any)
		keys := map[string]any{}
		for _, key := range t.MapKeys() {
			if value, there := fields[key]; there {
				keys[key] = value
			}
		}
		found["k:"+encoded(keys)] = value
	}
	return found
}

func encoded(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // it was decoded from JSON
		panic(err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// blank returns the document of an object that was never set: its fields that are encoded even if
// empty. A new object is compared with it.
func blank(t *schema.Type) map[string]any {
	object := map[string]any{}
	for _, name := range t.Always() {
		field, _ := t.Field(name)
		if field.Struct() {
			object[name] = blank(field)
		} else {
			object[name] = nil
		}
	}
	return object
}

// fields is a set of fields, as a tree. A node stands for a place in an object. The keys of inner
// are path elements as in FieldsV1: "f:NAME" is a field, `k:{"name":"a"}` an element of a list with
// keys, and "v:VALUE" a member of a list that is a set. A nil tree is the empty set.
type fields struct {
	member bool // the place itself is in the set
	inner  map[string]*fields
}

// add puts the tree of a place below f, unless that is empty.
func (f *fields) add(element string, below *fields) {
	if below.empty() {
		return
	}
	if f.inner == nil {
		f.inner = map[string]*fields{}
	}
	f.inner[element] = below
}

func (f *fields) empty() bool { return f == nil || !f.member && len(f.inner) == 0 }

func (f *fields) at(element string) *fields {
	if f == nil {
		return nil
	}
	return f.inner[element]
}

// plus returns the union. It shares nodes with both sets, which are not changed.
func (f *fields) plus(other *fields) *fields {
	switch {
	case f.empty():
		return other
	case other.empty():
		return f
	}
	sum := &fields{member: f.member || other.member, inner: maps.Clone(f.inner)}
	for element, below := range other.inner {
		sum.add(element, f.at(element).plus(below))
	}
	return sum
}

// minus returns the difference. It shares nodes with f, which is not changed.
func (f *fields) minus(other *fields) *fields {
	if f.empty() || other.empty() {
		return f
	}
	left := &fields{member: f.member && !other.member}
	for element, below := range f.inner {
		left.add(element, below.minus(other.at(element)))
	}
	return left
}

// tree encodes the set in the format FieldsV1: "." marks a place that is in the set and has others
// below it.
func (f *fields) tree() map[string]any {
	tree := make(map[string]any, len(f.inner)+1)
	for element, below := range f.inner {
		tree[element] = below.tree()
	}
	if f.member && len(f.inner) > 0 {
		tree["."] = map[string]any{}
	}
	return tree
}

// parse decodes the format FieldsV1. It ignores what is not an object.
func parse(tree map[string]any) *fields {
	_, member := tree["."]
	f := &fields{member: member || len(tree) == 0}
	for element, below := range tree {
		if inner, ok := below.(map[string]any); ok && element != "." {
			f.add(element, parse(inner))
		}
	}
	return f
}
