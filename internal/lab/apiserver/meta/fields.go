package meta

import (
	"fmt"
	"strings"
)

// Fields is a field selector. The zero value selects everything. It is immutable.
type Fields struct {
	requirements []FieldRequirement
}

// FieldRequirement is a condition on a field.
type FieldRequirement struct {
	// Field is the name of the field, such as "metadata.name".
	Field string
	// Operator is [Equals] or [NotEquals].
	Operator Operator
	Value    string
}

// ParseFields parses the field selector of a query. Errors have kube-apiserver's text.
//
// Commas, equals signs and backslashes in values are escaped by a backslash. Whitespace is
// significant. A condition without name and value is ignored.
func ParseFields(text string) (Fields, error) {
	var fields Fields
	for _, term := range splitTerms(text) {
		if term == "" {
			continue
		}
		requirement, ok := splitTerm(term)
		if !ok {
			return Fields{}, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", text, term)
		}
		value, err := unescape(requirement.Value)
		if err != nil {
			return Fields{}, err
		}
		requirement.Value = value
		if requirement.Field == "" && value == "" {
			continue
		}
		fields.requirements = append(fields.requirements, requirement)
	}
	return fields, nil
}

// splitTerms splits at unescaped commas.
func splitTerms(text string) []string {
	var terms []string
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ',':
			terms = append(terms, text[start:i])
			start = i + 1
		}
	}
	return append(terms, text[start:])
}

// splitTerm splits at the first operator. Names are taken literally, including backslashes.
func splitTerm(term string) (FieldRequirement, bool) {
	for i := range len(term) {
		for _, symbol := range []string{"!=", "==", "="} {
			if value, ok := strings.CutPrefix(term[i:], symbol); ok {
				operator := Equals
				if symbol == "!=" {
					operator = NotEquals
				}
				return FieldRequirement{Field: term[:i], Operator: operator, Value: value}, true
			}
		}
	}
	return FieldRequirement{}, false
}

func unescape(value string) (string, error) {
	if !strings.ContainsAny(value, `\,=`) {
		return value, nil
	}
	var b strings.Builder
	escaped := false
	for _, r := range value {
		switch {
		case escaped:
			if !strings.ContainsRune(`\,=`, r) {
				return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \%c`, r)
			}
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == ',' || r == '=':
			return "", fmt.Errorf("invalid field selector: unescaped character in value: %d", r)
		default:
			b.WriteRune(r)
		}
	}
	if escaped {
		return "", fmt.Errorf(`invalid field selector: invalid escape sequence: \`)
	}
	return b.String(), nil
}

// Empty reports whether the selector selects everything.
func (f Fields) Empty() bool { return len(f.requirements) == 0 }

// Matches reports whether an object is selected. get returns the value of a field, "" if it is
// absent.
func (f Fields) Matches(get func(field string) string) bool {
	for _, requirement := range f.requirements {
		if (get(requirement.Field) == requirement.Value) != (requirement.Operator == Equals) {
			return false
		}
	}
	return true
}

// Rename returns the selector with renamed fields, or the error of rename.
func (f Fields) Rename(rename func(field string) (string, error)) (Fields, error) {
	renamed := Fields{requirements: make([]FieldRequirement, len(f.requirements))}
	for i, requirement := range f.requirements {
		field, err := rename(requirement.Field)
		if err != nil {
			return Fields{}, err
		}
		requirement.Field = field
		renamed.requirements[i] = requirement
	}
	return renamed, nil
}
