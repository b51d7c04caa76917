package resources

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// mistakes collects what is wrong with an object, in the order in which it is found.
type mistakes []apierrors.FieldError

func (m *mistakes) add(kind api.CauseType, field string, value any, detail string) {
	*m = append(*m, apierrors.FieldError{Type: kind, Field: field, Value: value, Detail: detail})
}

func (m *mistakes) required(field, detail string) { m.add(apierrors.FieldRequired, field, nil, detail) }

func (m *mistakes) invalid(field string, value any, detail string) {
	m.add(apierrors.FieldInvalid, field, value, detail)
}

func (m *mistakes) forbidden(field, detail string) {
	m.add(apierrors.FieldForbidden, field, nil, detail)
}

func (m *mistakes) duplicate(field string, value any) {
	m.add(apierrors.FieldDuplicate, field, value, "")
}

// unsupported says which values there are.
func (m *mistakes) unsupported(field string, value any, supported ...string) {
	quoted := make([]string, len(supported))
	for i, s := range supported {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	m.add(apierrors.FieldNotSupported, field, value, "supported values: "+strings.Join(quoted, ", "))
}

// names adds one mistake for each sentence of a rule.
func (m *mistakes) names(field, value string, sentences []string) {
	for _, sentence := range sentences {
		m.invalid(field, value, sentence)
	}
}

// oneOf wants a field to have one of a few values. Nothing is one of them if required is false.
func (m *mistakes) oneOf(t tree, key, path string, required bool, supported ...string) {
	switch value := text(t, key); {
	case value == "" && required:
		m.required(path, "")
	case value != "" && !slices.Contains(supported, value):
		m.unsupported(path, value, supported...)
	}
}

// notNegative wants a number, if it is there, to be at least 0.
func (m *mistakes) notNegative(t tree, key, path string) {
	if n := whole(t, key); n < 0 {
		m.invalid(path, n, "must be greater than or equal to 0")
	}
}

// immutable wants a field to stay as it is.
func (m *mistakes) immutable(field string, value, old any) {
	if !same(value, old) {
		m.invalid(field, value, "field is immutable")
	}
}

func at(path string, index int) string { return fmt.Sprintf("%s[%d]", path, index) }

func under(path, key string) string { return fmt.Sprintf("%s[%s]", path, key) }

// ordered wants an amount not to be above another one.
func (m *mistakes) ordered(field string, value, low, high any, sentence string) {
	if order, ok := compareQuantities(low, high); ok && order > 0 {
		m.invalid(field, quantityText(value), fmt.Sprintf(sentence, quantityText(low), quantityText(high)))
	}
}
