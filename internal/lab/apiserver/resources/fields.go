package resources

import (
	"fmt"
	"regexp"
	"strings"
)

// Fields is a field selector: all conditions must hold. Nil selects everything. It is immutable.
type Fields []fieldCondition

// fieldCondition is a condition on a field.
type fieldCondition struct {
	// Field is the name of the field, such as "metadata.name".
	Field, Value string
	// Unequal reports that the field must not have the value.
	Unequal bool
}

var fieldTerm = regexp.MustCompile(`^([^=!]*)(==|!=|=)([^=]*)$`)

// ParseFields parses the field selector of a query. Errors have kube-apiserver's text. Whitespace
// is significant, and a backslash is an ordinary character. A condition without name and value is
// ignored.
func ParseFields(text string) (Fields, error) {
	var fields Fields
	for term := range strings.SplitSeq(text, ",") {
		if term == "" {
			continue
		}
		parts := fieldTerm.FindStringSubmatch(term)
		if parts == nil {
			return nil, fmt.Errorf("invalid selector: '%s'; can't understand '%s'", text, term)
		}
		condition := fieldCondition{Field: parts[1], Value: parts[3], Unequal: parts[2] == "!="}
		if condition.Field != "" || condition.Value != "" {
			fields = append(fields, condition)
		}
	}
	return fields, nil
}

// Matches reports whether an object is selected. get returns the value of a field, "" if it is
// absent.
func (f Fields) Matches(get func(field string) string) bool {
	for _, condition := range f {
		if (get(condition.Field) == condition.Value) == condition.Unequal {
			return false
		}
	}
	return true
}
