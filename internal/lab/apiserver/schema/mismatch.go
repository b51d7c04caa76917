package schema

import "fmt"

// MismatchError says that a value is of another type than its field.
type MismatchError struct {
	// Found is what the document has: "string", "object", "number 1.5".
	Found string
	// Struct is the type that has the field, Path the way to it from the document's root: "PodSpec", "spec.hostname". Both are empty
	// if the document itself does not fit.
	Struct, Path string
	// GoType is what belongs there, as Go names it.
	GoType string
	// Want is the kind that belongs there, Value what the document has.
	Want  Kind
	Value any
	// Map tells that the object that belongs there has free keys.
	Map bool
}

func (e *MismatchError) Error() string {
	if e.Struct == "" && e.Path == "" {
		return fmt.Sprintf("json: cannot unmarshal %s into Go value of type %s", e.Found, e.GoType)
	}
	return fmt.Sprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", e.Found, e.Struct, e.Path, e.GoType)
}
