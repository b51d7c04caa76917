package selector

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/lab/apiserver/names"
)

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

// checkKey validates a label key. The message has <nil> for a path, as in kube-apiserver.
func checkKey(key string) error {
	if errs := names.Qualified(key); len(errs) > 0 {
		return fmt.Errorf("<nil>: Invalid value: %q: %s", key, strings.Join(errs, "; "))
	}
	return nil
}

// check validates the values: label values, or integers for numeric operators.
func (r *LabelRequirement) check() error {
	var errs []string
	if r.Operator == GreaterThan || r.Operator == LessThan {
		if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			errs = append(errs, fmt.Sprintf("values[0]: Invalid value: %q: for 'Gt', 'Lt' operators, the value must be an integer", r.Values[0]))
		}
	}
	for i, value := range r.Values {
		if wrong := names.LabelValue(value); len(wrong) > 0 {
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
