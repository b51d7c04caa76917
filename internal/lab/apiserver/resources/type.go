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
	nullable bool // of a custom resource
	initial  any  // the default value in a custom resource
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

// Custom returns the type of a custom resource with an openAPIV3Schema, which may be nil. It serves
// to find and prune unknown fields, and to set defaults. Mismatches are found in the metadata only;
// validateCustom checks the rest.
func Custom(schema map[string]any) *Type {
	t := customType(schema)
	if t.kind != Object { // any object is accepted, but its metadata is checked
		t = &Type{custom: true, kind: Object, element: &Type{}, fields: map[string]*Type{}}
	}
	addMeta(t.fields)
	return t
}

// addMeta adds the fields of every object.
func addMeta(fields map[string]*Type) {
	fields["kind"], fields["apiVersion"] = &Type{custom: true}, &Type{custom: true}
	fields["metadata"] = Builtin().types[objectMetaName]
}

// customType returns the type of one place in a custom resource. Its schema should be structural:
// types stand in one tree of properties and items.
func customType(schema tree) *Type {
	t := &Type{custom: true, initial: schema["default"], nullable: boolean(schema, "nullable")}
	switch text(schema, "type") {
	case "array":
		t.kind, t.element = Array, customType(child(schema, "items"))
	case "object":
		t.kind, t.fields = Object, map[string]*Type{}
		more := schema["additionalProperties"]
		if values := child(schema, "additionalProperties"); values != nil {
			t.element = customType(values)
		} else if more == true || boolean(schema, "x-kubernetes-preserve-unknown-fields") {
			t.element = &Type{}
		}
		for name := range child(schema, "properties") {
			t.fields[name] = customType(child(child(schema, "properties"), name))
		}
		if boolean(schema, "x-kubernetes-embedded-resource") {
			addMeta(t.fields)
		}
	}
	return t
}

// FillIn sets the defaults of absent fields and of nulls that are not allowed in a custom resource,
// and drops the other nulls that are not allowed. It changes value in place.
func (t *Type) FillIn(value any) {
	if t == nil || !t.custom {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range t.fields {
			if _, there := v[name]; !there && field.initial != nil {
				v[name] = clone(field.initial)
			}
		}
		for name, inner := range v {
			field, _ := t.Field(name)
			if inner == nil && field.refusesNull() {
				inner = clone(field.initial)
				v[name] = inner
				if inner == nil {
					delete(v, name)
				}
			}
			field.FillIn(inner)
		}
	case []any:
		for i, item := range v {
			if item == nil && t.Items().refusesNull() {
				v[i] = clone(t.Items().initial)
			}
			t.Items().FillIn(v[i])
		}
	}
}

// refusesNull reports whether null is not a value of a place in a custom resource.
func (t *Type) refusesNull() bool { return t != nil && t.custom && !t.nullable }
