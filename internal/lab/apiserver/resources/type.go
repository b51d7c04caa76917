package resources

import "orrery/restclient/api"

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

// Strategy has the hooks for writes of a type. The registry calls them in this order: Default, one
// Prepare hook, one or both Validate hooks. Every hook may be nil. Hooks change o in place and must
// not change old; what they take from old they must copy.
//
// The registry handles name, namespace, UID, creationTimestamp, resourceVersion and the fields of a
// deletion, and calls [MetaUpdateValidation].
type Strategy struct {
	// Default sets the defaults of absent fields, on every write.
	Default func(o *api.Unstructured)
	// PrepareCreate resets what clients may not set at creation.
	PrepareCreate func(o *api.Unstructured)
	// PrepareUpdate keeps what only subresources may change, and updates the generation.
	PrepareUpdate func(o, old *api.Unstructured)
	// PrepareStatus keeps everything but the status.
	PrepareStatus func(o, old *api.Unstructured)
	// PrepareFinalize keeps everything but the finalizers.
	PrepareFinalize func(o, old *api.Unstructured)

	// Validate validates a new object. [ObjectMetaValidation] has validated its metadata before.
	Validate func(o *api.Unstructured) []FieldError
	// ValidateUpdate validates the change from old to o; it calls Validate if that is part of it.
	ValidateUpdate func(o, old *api.Unstructured) []FieldError
	// ValidateStatusUpdate is ValidateUpdate for the status subresource.
	ValidateStatusUpdate func(o, old *api.Unstructured) []FieldError
	// ValidateFinalizeUpdate is ValidateUpdate for the finalize subresource.
	ValidateFinalizeUpdate func(o, old *api.Unstructured) []FieldError
	// Warnings returns warnings for a valid object.
	Warnings func(o *api.Unstructured) []string
	// ValidateName validates metadata.name; nil means a DNS subdomain.
	ValidateName NameRule

	// LooseFinalizers allows finalizers without a domain. Custom resources may have them too, with
	// a warning ([Warnings]).
	LooseFinalizers bool

	// GraceSeconds returns the grace period of a DELETE that asked for the given one, nil if none.
	// A nil hook means no grace period.
	GraceSeconds func(o *api.Unstructured, asked *int64) int64
	// DefaultPropagation is the propagation policy of a DELETE without one; "" means Background.
	DefaultPropagation api.DeletePropagation
	// AllowUnconditionalUpdate lets an update omit the resourceVersion.
	AllowUnconditionalUpdate bool
}

// NameRule validates a name and returns the messages.
type NameRule func(name string) []string

// keepStatus keeps the stored status.
func keepStatus(o, old *api.Unstructured) { keep(o, old, "status") }

func isHead(key string) bool { return key == "kind" || key == "apiVersion" || key == "metadata" }

func setGeneration(o *api.Unstructured, generation int64) {
	if o.Object != nil {
		ensure(o.Object, "metadata")["generation"] = generation
	}
}

// nextGeneration keeps the generation, and increments it after a change.
func nextGeneration(o, old *api.Unstructured, changed bool) {
	generation := integer(child(old.Object, "metadata"), "generation")
	if changed {
		generation++
	}
	if generation > 0 {
		setGeneration(o, generation)
	}
}

// statusKeepsMetadata returns a PrepareStatus hook that keeps the stored fields except for the
// status and the metadata, of which it keeps the given fields.
func statusKeepsMetadata(keys ...string) func(o, old *api.Unstructured) {
	return func(o, old *api.Unstructured) {
		for key := range o.Object {
			if _, stored := old.Object[key]; !stored && !isHead(key) && key != "status" {
				delete(o.Object, key)
			}
		}
		for key := range old.Object {
			if !isHead(key) && key != "status" {
				keep(o, old, key)
			}
		}
		for _, key := range keys {
			keep(o, old, "metadata", key)
		}
	}
}
