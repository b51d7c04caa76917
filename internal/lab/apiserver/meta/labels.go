package meta

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
// Field selectors have only =, == and !=. Callers decide which fields are selectable
// ([Fields.Rename]). What is accepted is what kube-apiserver accepts. The zero value selects
// everything. It is immutable.
type Labels struct {
	requirements []LabelRequirement // sorted by key
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
	var requirements []LabelRequirement
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
func readTerm(parts []string) LabelRequirement {
	absent, key, operator, value, set := parts[1], parts[2], parts[3], parts[4], parts[5]
	switch {
	case absent != "":
		return LabelRequirement{Key: absent, Operator: DoesNotExist}
	case set != "":
		values := strings.Split(parts[6], ",")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		slices.Sort(values)
		return LabelRequirement{Key: key, Operator: Operator(set), Values: slices.Compact(values)}
	case operator == "==":
		return LabelRequirement{Key: key, Operator: Equals, Values: []string{value}}
	case operator != "":
		return LabelRequirement{Key: key, Operator: Operator(operator), Values: []string{value}}
	default:
		return LabelRequirement{Key: key, Operator: Exists}
	}
}

func newLabels(requirements []LabelRequirement) Labels {
	slices.SortStableFunc(requirements, func(a, b LabelRequirement) int { return cmp.Compare(a.Key, b.Key) })
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
	var requirements []LabelRequirement
	labels, _ := tree["matchLabels"].(map[string]any)
	for key, value := range labels {
		text, ok := value.(string)
		if !ok {
			return Labels{}, fmt.Errorf("the value of label %q is not a string", key)
		}
		requirements = append(requirements, LabelRequirement{Key: key, Operator: Equals, Values: []string{text}})
	}
	expressions, _ := tree["matchExpressions"].([]any)
	for _, expression := range expressions {
		e, _ := expression.(map[string]any)
		requirement, err := readExpression(e)
		if err != nil {
			return Labels{}, err
		}
		requirements = append(requirements, requirement)
	}
	for i := range requirements {
		if err := requirements[i].check(); err != nil {
			return Labels{}, err
		}
	}
	return newLabels(requirements), nil
}

var expressionOperators = map[string]Operator{"In": In, "NotIn": NotIn, "Exists": Exists, "DoesNotExist": DoesNotExist}

func readExpression(e map[string]any) (LabelRequirement, error) {
	key, _ := e["key"].(string)
	name, _ := e["operator"].(string)
	operator, ok := expressionOperators[name]
	if !ok {
		return LabelRequirement{}, fmt.Errorf("%q is not a valid label selector operator", name)
	}
	list, _ := e["values"].([]any)
	var values []string
	for _, value := range list {
		text, ok := value.(string)
		if !ok {
			return LabelRequirement{}, fmt.Errorf("a value for label %q is not a string", key)
		}
		values = append(values, text)
	}
	if needs := operator == In || operator == NotIn; needs != (len(values) > 0) {
		return LabelRequirement{}, fmt.Errorf("%d values for label %q are invalid with operator %s", len(values), key, name)
	}
	slices.Sort(values)
	return LabelRequirement{Key: key, Operator: operator, Values: slices.Compact(values)}, nil
}

// LabelRequirement is a condition on a label.
type LabelRequirement struct {
	Key      string
	Operator Operator
	// Values are sorted and unique: one value, except for In and NotIn, and none for Exists and
	// DoesNotExist.
	Values []string
}

// Operator is a comparison.
type Operator string

const (
	Equals       Operator = "="
	NotEquals    Operator = "!="
	In           Operator = "in"
	NotIn        Operator = "notin"
	Exists       Operator = "exists"
	DoesNotExist Operator = "!"
	GreaterThan  Operator = ">"
	LessThan     Operator = "<"
)

func (r *LabelRequirement) matches(labels map[string]string) bool {
	value, found := labels[r.Key]
	switch r.Operator {
	case Equals, In:
		return found && slices.Contains(r.Values, value)
	case NotEquals, NotIn:
		return !found || !slices.Contains(r.Values, value)
	case Exists:
		return found
	case DoesNotExist:
		return !found
	case GreaterThan, LessThan:
		return found && r.compares(value)
	}
	return false
}

// compares compares numerically. A label that is not an integer never matches.
func (r *LabelRequirement) compares(value string) bool {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	limit, err := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil {
		return false
	}
	if r.Operator == GreaterThan {
		return number > limit
	}
	return number < limit
}

// String returns the requirement in selector syntax.
func (r LabelRequirement) String() string {
	switch r.Operator {
	case Exists:
		return r.Key
	case DoesNotExist:
		return "!" + r.Key
	case In, NotIn:
		return r.Key + " " + string(r.Operator) + " (" + strings.Join(r.Values, ",") + ")"
	}
	return r.Key + string(r.Operator) + r.Values[0]
}

// check validates the key and the values: label values, or integers for numeric operators.
func (r *LabelRequirement) check() error {
	if errs := Qualified(r.Key); len(errs) > 0 {
		return fmt.Errorf("<nil>: Invalid value: %q: %s", r.Key, strings.Join(errs, "; "))
	}
	var errs []string
	if r.Operator == GreaterThan || r.Operator == LessThan {
		if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			errs = append(errs, fmt.Sprintf("values[0]: Invalid value: %q: for 'Gt', 'Lt' operators, the value must be an integer", r.Values[0]))
		}
	}
	for i, value := range r.Values {
		if wrong := LabelValue(value); len(wrong) > 0 {
			errs = append(errs, fmt.Sprintf("values[%d][%s]: Invalid value: %q: %s", i, r.Key, value, strings.Join(wrong, "; ")))
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
