package managed

import "maps"

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
