package resources

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Labels is a label selector. All requirements of a selector must hold:
//
//	app=web            the label has this value; == is the same
//	app!=web           the label is absent or has another value
//	app in (web, db)   the label has one of these values
//	app notin (web)    the label is absent or has another value
//	app                the label is present
//	!app               the label is absent
//	load>7, load<9     the label is an integer greater or less than this
//
// Field selectors have only =, == and !=. A type decides which fields are selectable
// ([Definition.FieldSelector]). What is accepted is what kube-apiserver accepts. The zero value
// selects everything. It is immutable.
type Labels struct {
	requirements []labelRequirement // sorted by key
}

// word matches a key or a value, list what stands between parentheses, and term one requirement of
// a selector with what follows it.
const (
	word = `[^\s=!(),<>]+`
	list = `(?:\s*(?:` + word + `)?\s*,)*\s*(?:` + word + `)?\s*`
)

var term = regexp.MustCompile(`^\s*(?:!\s*(` + word + `)|(` + word + `)\s*` +
	`(?:(==|!=|[=<>])\s*(` + word + `)?|\s(in|notin)\s*\((` + list + `)\))?)\s*(,|$)`)

// ParseLabels parses the label selector of a query. Errors about keys and values have
// kube-apiserver's text.
func ParseLabels(text string) (Labels, error) {
	var requirements []labelRequirement
	for more := strings.TrimSpace(text) != ""; more; {
		parts := term.FindStringSubmatch(text)
		if parts == nil {
			return Labels{}, fmt.Errorf("unable to parse requirement: %q", text)
		}
		requirement := readTerm(parts)
		if err := requirement.check(); err != nil {
			return Labels{}, fmt.Errorf("unable to parse requirement: %w", err)
		}
		requirements = append(requirements, requirement)
		text, more = text[len(parts[0]):], parts[7] == ","
	}
	return newLabels(requirements), nil
}

// readTerm returns the requirement in the parts of a term.
func readTerm(parts []string) labelRequirement {
	absent, key, operator, value, set := parts[1], parts[2], parts[3], parts[4], parts[5]
	switch {
	case absent != "":
		return labelRequirement{key: absent, operator: "!"}
	case set != "":
		values := strings.Split(parts[6], ",")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		slices.Sort(values)
		return labelRequirement{key: key, operator: set, values: slices.Compact(values)}
	case operator != "":
		operator = strings.Replace(operator, "==", "=", 1)
		return labelRequirement{key: key, operator: operator, values: []string{value}}
	default:
		return labelRequirement{key: key, operator: "exists"}
	}
}

func newLabels(requirements []labelRequirement) Labels {
	slices.SortStableFunc(requirements, func(a, b labelRequirement) int { return cmp.Compare(a.key, b.key) })
	return Labels{requirements: requirements}
}

// Empty reports whether the selector selects everything.
func (l Labels) Empty() bool { return len(l.requirements) == 0 }

// Matches reports whether an object with these labels is selected.
func (l Labels) Matches(labels map[string]string) bool {
	for i := range l.requirements {
		if !l.requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

// String returns a text that ParseLabels parses to the same selector.
func (l Labels) String() string {
	parts := make([]string, len(l.requirements))
	for i, requirement := range l.requirements {
		parts[i] = requirement.String()
	}
	return strings.Join(parts, ",")
}

// ParseLabelSelector parses the selector of an object: matchLabels and matchExpressions. Without
// either it selects everything.
func ParseLabelSelector(tree map[string]any) (Labels, error) {
	var requirements []labelRequirement
	for key, value := range child(tree, "matchLabels") {
		requirement := labelRequirement{key: key, operator: "=", values: []string{fmt.Sprint(value)}}
		requirements = append(requirements, requirement)
	}
	for _, e := range items(tree, "matchExpressions") {
		operator, values := expressionOperators[text(e, "operator")], texts(e, "values")
		if needs := operator == "in" || operator == "notin"; operator == "" || needs != (len(values) > 0) {
			return Labels{}, fmt.Errorf("the expression %v is invalid", e)
		}
		slices.Sort(values)
		requirement := labelRequirement{key: text(e, "key"), operator: operator, values: slices.Compact(values)}
		requirements = append(requirements, requirement)
	}
	for i := range requirements {
		if err := requirements[i].check(); err != nil {
			return Labels{}, err
		}
	}
	return newLabels(requirements), nil
}

var expressionOperators = map[string]string{"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}

// labelRequirement is a condition on a label.
type labelRequirement struct {
	key      string
	operator string // one of =, !=, in, notin, exists, !, > and <
	// values are sorted and unique: one value, except for in and notin, and none for exists and !.
	values []string
}

func (r *labelRequirement) matches(labels map[string]string) bool {
	value, found := labels[r.key]
	switch r.operator {
	case "=", "in":
		return found && slices.Contains(r.values, value)
	case "!=", "notin":
		return !found || !slices.Contains(r.values, value)
	case "exists":
		return found
	case "!":
		return !found
	case ">", "<":
		return found && r.compares(value)
	}
	return false
}

// compares compares numerically. A label that is not an integer never matches.
func (r *labelRequirement) compares(value string) bool {
	number, err := strconv.ParseInt(value, 10, 64)
	limit, _ := strconv.ParseInt(r.values[0], 10, 64) // check has parsed it
	return err == nil && (r.operator == ">" && number > limit || r.operator == "<" && number < limit)
}

// String returns the requirement in selector syntax.
func (r labelRequirement) String() string {
	switch r.operator {
	case "exists":
		return r.key
	case "!":
		return "!" + r.key
	case "in", "notin":
		return r.key + " " + r.operator + " (" + strings.Join(r.values, ",") + ")"
	}
	return r.key + r.operator + r.values[0]
}

// check validates the key and the values: label values, or integers for numeric operators.
func (r *labelRequirement) check() error {
	if errs := qualifiedName(r.key); len(errs) > 0 {
		return fmt.Errorf("<nil>: Invalid value: %q: %s", r.key, strings.Join(errs, "; "))
	}
	var errs []string
	if r.operator == ">" || r.operator == "<" {
		if _, err := strconv.ParseInt(r.values[0], 10, 64); err != nil {
			errs = append(errs,
				fmt.Sprintf("values[0]: Invalid value: %q: for 'Gt', 'Lt' operators, the value must be an integer",
					r.values[0]))
		}
	}
	for i, value := range r.values {
		if wrong := labelValue(value); len(wrong) > 0 {
			errs = append(errs, fmt.Sprintf("values[%d][%s]: Invalid value: %q: %s", i, r.key, value,
				strings.Join(wrong, "; ")))
		}
	}
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errors.New(errs[0])
	}
	return errors.New("[" + strings.Join(errs, ", ") + "]")
}

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
