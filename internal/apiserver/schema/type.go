package schema

// Kind is what sort of value a type describes.
type Kind int

// The kinds. Any is the zero value: a place where everything fits, as in a custom resource without a schema.
const (
	Any Kind = iota
	Object
	Array
	String
	Integer
	Number
	Boolean
	IntOrString
	Quantity
	Time
	MicroTime
	Bytes
)

// PatchStrategy is how a strategic merge patch changes a place.
type PatchStrategy struct {
	// Merge: the elements of a list are merged, by the list's merge key or as a set of plain values. Without it, a
	// list is replaced.
	Merge bool
	// RetainKeys: a patch may name the only keys that are to stay ($retainKeys).
	RetainKeys bool
	// Replace: a map is replaced as a whole.
	Replace bool
}

// Type describes the values at one place of a document. It is immutable. Methods of a nil Type answer as for [Any].
type Type struct {
	kind     Kind
	name     string
	fields   map[string]*Type
	element  *Type
	strategy PatchStrategy
	mergeKey string
	listType string
}

// Kind returns the sort of value.
func (t *Type) Kind() Kind { return t.kind }

// Name is the Go name of the type in Kubernetes' own API, such as "PodSpec"; empty for places that have none of their own.
func (t *Type) Name() string { return t.name }

// Field returns the type of a field of an object, false if the object has no such field.
func (t *Type) Field(name string) (*Type, bool) {
	f, ok := t.fields[name]
	return f, ok
}

// Items returns the type of the elements of an array, nil for anything else.
func (t *Type) Items() *Type {
	if t.kind != Array {
		return nil
	}
	return t.element
}

// Values returns the type of the values of a map (an object with free keys), nil for anything else.
func (t *Type) Values() *Type {
	if t.kind != Object {
		return nil
	}
	return t.element
}

// MergeKey is the field by which a strategic merge patch finds an element of the array; empty if there is none.
func (t *Type) MergeKey() string { return t.mergeKey }

// PatchStrategy says how a strategic merge patch changes this place.
func (t *Type) PatchStrategy() PatchStrategy { return t.strategy }

// ListType is "atomic", "set" or "map" for arrays where server-side apply has been told, else empty.
func (t *Type) ListType() string { return t.listType }
