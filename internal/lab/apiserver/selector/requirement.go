package selector

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/lab/apiserver/names"
)

// LabelRequirement is one condition on a label.
type LabelRequirement struct {
	Key      string
	Operator Operator
	// Values are sorted and without repetition: what the label is compared with, one value except for In and NotIn, and
	// none for Exists and DoesNotExist.
	Values []string
}

// Operator says how a requirement compares.
type Operator string

// The operators.
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

// compares is the numeric half of matches: a label that is no whole number is on neither side.
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

// String writes the requirement in the syntax of selectors.
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

// checkKey wants a good label key. There is no path to the key in a query, and the sentence says so in its own way.
func checkKey(key string) error {
	if mistakes := names.Qualified(key); len(mistakes) > 0 {
		return fmt.Errorf("<nil>: Invalid value: %q: %s", key, strings.Join(mistakes, "; "))
	}
	return nil
}

// check wants values that a label could have, and numbers for the operators that compare numbers.
func (r *LabelRequirement) check() error {
	var mistakes []string
	if r.Operator == GreaterThan || r.Operator == LessThan {
		if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			mistakes = append(mistakes, fmt.Sprintf("values[0]: Invalid value: %q: for 'Gt', 'Lt' operators, the value must be an integer", r.Values[0]))
		}
	}
	for i, value := range r.Values {
		if wrong := names.LabelValue(value); len(wrong) > 0 {
			mistakes = append(mistakes, fmt.Sprintf("values[%d][%s]: Invalid value: %q: %s", i, r.Key, value, strings.Join(wrong, "; ")))
		}
	}
	switch len(mistakes) {
	case 0:
		return nil
	case 1:
		return errors.New(mistakes[0])
	}
	return errors.New("[" + strings.Join(mistakes, ", ") + "]")
}
