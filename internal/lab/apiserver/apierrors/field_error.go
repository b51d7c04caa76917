package apierrors

import (
	"encoding/json"
	"fmt"

	"orrery/restclient/api"
)

// The kinds of field errors, as causes of a Status name them.
const (
	FieldRequired     api.CauseType = "FieldValueRequired"
	FieldInvalid      api.CauseType = "FieldValueInvalid"
	FieldTypeInvalid  api.CauseType = "FieldValueTypeInvalid"
	FieldNotSupported api.CauseType = "FieldValueNotSupported"
	FieldDuplicate    api.CauseType = "FieldValueDuplicate"
	FieldForbidden    api.CauseType = "FieldValueForbidden"
	FieldTooLong      api.CauseType = "FieldValueTooLong"
	FieldTooMany      api.CauseType = "FieldValueTooMany"
)

// kinds are the texts of the kinds, and whether the value is shown.
var kinds = map[api.CauseType]struct {
	words string
	value bool
}{
	FieldRequired:     {words: "Required value"},
	FieldInvalid:      {words: "Invalid value", value: true},
	FieldTypeInvalid:  {words: "Invalid value", value: true},
	FieldNotSupported: {words: "Unsupported value", value: true},
	FieldDuplicate:    {words: "Duplicate value", value: true},
	FieldForbidden:    {words: "Forbidden"},
	FieldTooLong:      {words: "Too long"},
	FieldTooMany:      {words: "Too many", value: true},
}

// FieldError is one error in one field of an object.
type FieldError struct {
	// Type is one of the Field... constants.
	Type api.CauseType
	// Field is the path, such as "metadata.labels" or "spec.containers[0].name".
	Field string
	// Value is the invalid value. [Omitted] is not shown.
	Value any
	// Detail says what is valid; it may be empty.
	Detail string
}

// Omitted replaces a value that would be too long to show.
const Omitted omitted = true

type omitted bool

// Error returns the message with the field: `metadata.name: Invalid value: "A": ...`.
func (e FieldError) Error() string { return e.Field + ": " + e.Body() }

// Body returns the message without the field, as in a cause.
func (e FieldError) Body() string {
	kind := kinds[e.Type]
	text := kind.words
	if kind.value && e.Value != Omitted {
		text += ": " + formatValue(e.Value)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// formatValue quotes a string and encodes everything else as JSON.
func formatValue(value any) string {
	if text, ok := value.(string); ok {
		return fmt.Sprintf("%q", text)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%v", value)
	}
	return string(data)
}
