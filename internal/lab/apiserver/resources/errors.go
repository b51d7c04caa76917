package resources

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// errorList collects validation errors in the order in which they are found.
type errorList []apierrors.FieldError

func (m *errorList) add(kind api.CauseType, field string, value any, detail string) {
	*m = append(*m, apierrors.FieldError{Type: kind, Field: field, Value: value, Detail: detail})
}

func (m *errorList) required(field, detail string) {
	m.add(apierrors.FieldRequired, field, nil, detail)
}

func (m *errorList) invalid(field string, value any, detail string) {
	m.add(apierrors.FieldInvalid, field, value, detail)
}

func (m *errorList) forbidden(field, detail string) {
	m.add(apierrors.FieldForbidden, field, nil, detail)
}

func (m *errorList) duplicate(field string, value any) {
	m.add(apierrors.FieldDuplicate, field, value, "")
}

// unsupported adds an error that lists the supported values.
func (m *errorList) unsupported(field string, value any, supported ...string) {
	quoted := make([]string, len(supported))
	for i, s := range supported {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	m.add(apierrors.FieldNotSupported, field, value, "supported values: "+strings.Join(quoted, ", "))
}

// names adds one error for each message.
func (m *errorList) names(field, value string, sentences []string) {
	for _, sentence := range sentences {
		m.invalid(field, value, sentence)
	}
}

// oneOf checks that a field has one of the supported values. If not required, it may be empty.
func (m *errorList) oneOf(t tree, key, path string, required bool, supported ...string) {
	switch value := text(t, key); {
	case value == "" && required:
		m.required(path, "")
	case value != "" && !slices.Contains(supported, value):
		m.unsupported(path, value, supported...)
	}
}

// notNegative checks that a number is not negative.
func (m *errorList) notNegative(t tree, key, path string) {
	if n := integer(t, key); n < 0 {
		m.invalid(path, n, "must be greater than or equal to 0")
	}
}

// immutable checks that a field is unchanged.
func (m *errorList) immutable(field string, value, old any) {
	if !same(value, old) {
		m.invalid(field, value, "field is immutable")
	}
}

func at(path string, index int) string { return fmt.Sprintf("%s[%d]", path, index) }

func under(path, key string) string { return fmt.Sprintf("%s[%s]", path, key) }
