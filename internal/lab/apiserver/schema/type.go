package schema

import (
	"strings"
)

// PatchStrategy is how a strategic merge patch changes a place. The zero value: maps are merged, everything else is replaced.
type PatchStrategy struct {
	// Merge: the elements of a list are merged, by the list's merge key, or as a set if they are plain values.
	Merge bool
	// RetainKeys: a patch may name the only keys that are to stay ($retainKeys).
	RetainKeys bool
	// Replace: a map is replaced as a whole.
	Replace bool
}

// Type describes the values at one place of a document. It is immutable. A nil Type answers as a place of kind [Any].
type Type struct {
	kind     Kind
	goType   string // as Go prints it: "v1.PodSpec", "[]string", "int32"
	fields   map[string]*Type
	always   []string // the fields that are written whatever their value is
	element  *Type    // of arrays and maps
	inside   string   // the embedded structs, joined by dots, through which a field came into its struct
	bits     int      // of integers
	omitted  bool     // a field that is not written when it is empty
	strategy PatchStrategy
	mergeKey string
	listType string
	custom   bool // the document of a custom resource: only its metadata has values that do not fit
}

// Kind returns the sort of value.
func (t *Type) Kind() Kind {
	if t == nil {
		return Any
	}
	return t.kind
}

// Name is the name that the type has in Kubernetes' Go packages, without the package: "PodSpec", "RestartPolicy".
func (t *Type) Name() string {
	if t == nil {
		return ""
	}
	return t.goType[strings.LastIndexByte(t.goType, '.')+1:]
}

// Custom tells whether the type is that of a custom resource's documents, or of a part of them.
func (t *Type) Custom() bool { return t != nil && t.custom }

// Struct tells whether the type is an object with named fields only.
func (t *Type) Struct() bool { return t.Kind() == Object && t.element == nil }

// Field returns the type of a field of an object, false if the object has no such field. For an object with free keys
// every name is a field.
func (t *Type) Field(name string) (*Type, bool) {
	if t == nil || t.kind == Any {
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

// Always returns the names of the fields of an object that Kubernetes writes whatever their value is. Read only.
func (t *Type) Always() []string {
	if t == nil {
		return nil
	}
	return t.always
}

// Items returns the type of the elements of an array, nil for anything else.
func (t *Type) Items() *Type {
	if t == nil || t.kind != Array {
		return nil
	}
	return t.element
}

// Values returns the type of the values of an object with free keys, nil for anything else.
func (t *Type) Values() *Type {
	if t == nil || t.kind != Object {
		return nil
	}
	return t.element
}

// PatchStrategy says how a strategic merge patch changes this place.
func (t *Type) PatchStrategy() PatchStrategy {
	if t == nil {
		return PatchStrategy{}
	}
	return t.strategy
}

// MergeKey is the field by which a strategic merge patch finds an element of the array; empty if there is none.
func (t *Type) MergeKey() string {
	if t == nil {
		return ""
	}
	return t.mergeKey
}

// ListType is "atomic", "set" or "map" for an array for which it is declared (x-kubernetes-list-type), else empty.
func (t *Type) ListType() string {
	if t == nil {
		return ""
	}
	return t.listType
}

// Kind is what sort of value a type describes.
type Kind int

// The kinds.
const (
	// Any is a place where everything fits. It is the zero value.
	Any Kind = iota
	// Object has named fields (Type.Field), or free keys with values of one type (Type.Values).
	Object
	Array
	String
	Integer
	Number
	Boolean
	// IntOrString is a port or a share: 80, "http", "25%".
	IntOrString
	// Quantity is an amount such as "100m" or "1Gi"; a number is understood too.
	Quantity
	// Time is RFC 3339 with seconds.
	Time
	// MicroTime is RFC 3339 with microseconds.
	MicroTime
	// Bytes is text in base64.
	Bytes
)

var kindNames = [...]string{"any", "object", "array", "string", "integer", "number", "boolean", "int-or-string", "quantity", "time",
	"micro-time", "bytes"}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}
