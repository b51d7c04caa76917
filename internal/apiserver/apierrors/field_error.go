package apierrors

import (
	"encoding/json"
	"fmt"

	"orrery/restclient/api"
)

// FieldError is one thing that is wrong with an object.
type FieldError struct {
	// Type is the reason of the cause that it becomes.
	Type api.CauseType
	// Field is the path of the field: "spec.containers[0].name".
	Field string
	// Value is the value of the field, for the types that show it.
	Value any
	// Detail says what is wrong.
	Detail string
}

// The types of mistakes in fields.
const (
	FieldRequired     api.CauseType = "FieldValueRequired"
	FieldInvalid      api.CauseType = "FieldValueInvalid"
	FieldNotSupported api.CauseType = "FieldValueNotSupported"
	FieldDuplicate    api.CauseType = "FieldValueDuplicate"
	FieldForbidden    api.CauseType = "FieldValueForbidden"
	FieldTooLong      api.CauseType = "FieldValueTooLong"
	FieldTooMany      api.CauseType = "FieldValueTooMany"
	FieldNotFound     api.CauseType = "FieldValueNotFound"
	FieldTypeInvalid  api.CauseType = "FieldValueTypeInvalid"
)

// Error returns the field and what is wrong with it.
func (e FieldError) Error() string { return e.Field + ": " + e.Body() }

// Body returns what is wrong, without the field.
func (e FieldError) Body() string {
	if e.Type == FieldRequired {
		return "Required value: " + e.Detail
	}
	value, _ := json.Marshal(e.Value)
	return fmt.Sprintf("Invalid value: %s: %s", value, e.Detail)
}
