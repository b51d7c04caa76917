package resources

// PatchStrategy is how a strategic merge patch changes a value. The zero value merges maps and
// replaces everything else.
type PatchStrategy struct {
	// Merge merges the elements of a list, by its merge key or, for scalars, as a set.
	Merge bool
	// Replace replaces a map as a whole.
	Replace bool
}

// Type describes the values at one place of a document. It is immutable. A nil Type has the kind
// [Any].
type Type struct {
	kind     Kind
	name     string // of a struct in Go: "PodSpec"
	fields   map[string]*Type
	always   []string // fields that are encoded even if empty
	element  *Type    // of arrays and maps
	bits     int      // of integers
	omitted  bool     // the field is not encoded when empty
	strategy PatchStrategy
	mergeKey string
	custom   bool // a custom resource: only its metadata can have mismatches
}

// orAny returns t, or the type that accepts everything.
func (t *Type) orAny() *Type {
	if t == nil {
		return &Type{}
	}
	return t
}

// Kind returns the kind of value.
func (t *Type) Kind() Kind { return t.orAny().kind }

// Name returns the name of a struct in Go, such as "PodSpec", or "".
func (t *Type) Name() string { return t.orAny().name }

// Custom reports whether the type belongs to a custom resource.
func (t *Type) Custom() bool { return t.orAny().custom }

// Struct reports whether the type is an object with named fields only.
func (t *Type) Struct() bool { return t.Kind() == Object && t.element == nil }

// Field returns the type of a field of an object and whether there is such a field. In a map every
// name is a field.
func (t *Type) Field(name string) (*Type, bool) {
	if t.Kind() == Any {
		return nil, true
	}
	if field, ok := t.fields[name]; ok {
		return field, true
	}
	if t.kind == Object && t.element != nil {
		return t.element, true
	}
	return nil, false
}

// Always returns the names of the fields that Kubernetes encodes even if empty. The slice must not
// be changed.
func (t *Type) Always() []string { return t.orAny().always }

// Items returns the element type of an array, or nil.
func (t *Type) Items() *Type {
	if t.Kind() != Array {
		return nil
	}
	return t.element
}

// PatchStrategy returns how a strategic merge patch changes this value.
func (t *Type) PatchStrategy() PatchStrategy { return t.orAny().strategy }

// MergeKey returns the field by which a strategic merge patch finds an element of the array, or "".
func (t *Type) MergeKey() string { return t.orAny().mergeKey }

// Kind is the kind of value that a type describes.
type Kind int

const (
	// Any accepts every value. It is the zero value.
	Any Kind = iota
	// Object has named fields (Type.Field), or is a map with values of one type.
	Object
	Array
	String
	Integer
	Number
	Boolean
	// IntOrString is a port or a percentage: 80, "http", "25%".
	IntOrString
	// Quantity is a resource quantity such as "100m" or "1Gi", or a number.
	Quantity
	// Time is RFC 3339 with seconds.
	Time
	// MicroTime is RFC 3339 with microseconds.
	MicroTime
	// Bytes is a base64 string.
	Bytes
)

// Custom returns the type of a custom resource with a schema, which may be nil. It serves to find
// and prune unknown fields. Mismatches are found in the metadata only; [Schema.Validate] validates
// the rest.
func Custom(s *Schema) *Type {
	t := s.fields()
	if t.kind != Object { // any object is accepted, but its metadata is checked
		t.kind, t.element, t.fields = Object, &Type{custom: true}, map[string]*Type{}
	}
	addMeta(t.fields)
	return t
}

// addMeta adds the fields of every object.
func addMeta(fields map[string]*Type) {
	fields["kind"], fields["apiVersion"] = &Type{custom: true}, &Type{custom: true}
	fields["metadata"] = Builtin().types[objectMetaName]
}

// fields returns the type that knows the fields of the schema.
func (s *Schema) fields() *Type {
	t := &Type{custom: true}
	switch {
	case s == nil:
	case s.Type == "array":
		t.kind, t.element = Array, s.Items.fields()
	case s.Type == "object":
		t.kind, t.fields = Object, map[string]*Type{}
		if s.AdditionalProperties != nil || s.Preserve {
			t.element = s.AdditionalProperties.fields()
		}
		for name, property := range s.Properties {
			t.fields[name] = property.fields()
		}
		if s.Embedded {
			addMeta(t.fields)
		}
	}
	return t
}
