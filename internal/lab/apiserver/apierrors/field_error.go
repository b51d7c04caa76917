package apierrors

import (
	"encoding/json"
	"fmt"

	"orrery/restclient/api"
)

// The kinds of mistakes in a field, as the causes of a Status name them.
const (
	FieldRequired     api.CauseType = "FieldValueRequired"
	FieldInvalid      api.CauseType = "FieldValueInvalid"
	FieldTypeInvalid  api.CauseType = "FieldValueTypeInvalid"
	FieldNotSupported api.CauseType = "FieldValueNotSupported"
	FieldNotFound     api.CauseType = "FieldValueNotFound"
	FieldDuplicate    api.CauseType = "FieldValueDuplicate"
	FieldForbidden    api.CauseType = "FieldValueForbidden"
	FieldTooLong      api.CauseType = "FieldValueTooLong"
	FieldTooMany      api.CauseType = "FieldValueTooMany"
	FieldInternal     api.CauseType = "InternalError"
)

// mistakes are the words of each kind, and whether the value is shown: it is not where it is missing, or long.
var mistakes = map[api.CauseType]struct {
	words string
	value bool
}{
	FieldRequired:     {words: "Required value"},
	FieldInvalid:      {words: "Invalid value", value: true},
	FieldTypeInvalid:  {words: "Invalid value", value: true},
	FieldNotSupported: {words: "Unsupported value", value: true},
	FieldNotFound:     {words: "Not found", value: true},
	FieldDuplicate:    {words: "Duplicate value", value: true},
	FieldForbidden:    {words: "Forbidden"},
	FieldTooLong:      {words: "Too long"},
	FieldTooMany:      {words: "Too many", value: true},
	FieldInternal:     {words: "Internal error"},
}

// FieldError is one mistake in one field of an object.
type FieldError struct {
	// Type is one of the Field... constants.
	Type api.CauseType
	// Field is the path, "metadata.labels" or "spec.containers[0].name".
	Field string
	// Value is what was found there. [Omitted] is not shown.
	Value any
	// Detail says what is wanted instead; "" for nothing.
	Detail string
}

// Omitted is a value that is left out of sentences: it would be too long.
const Omitted omitted = true

type omitted bool

// Error returns the sentence for the field: `metadata.name: Invalid value: "A": ...`.
func (e FieldError) Error() string { return e.Field + ": " + e.Body() }

// Body returns the sentence without the field, as it stands in the message of a cause.
func (e FieldError) Body() string {
	mistake := mistakes[e.Type]
	text := mistake.words
	if mistake.value && e.Value != Omitted {
		text += ": " + formatValue(e.Value)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// formatValue writes a string in quotes and everything else as JSON.
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
