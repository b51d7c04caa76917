package selector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Labels is a label selector. The zero value selects everything.
type Labels struct {
	requirements []LabelRequirement // sorted by key
}

// ParseLabels reads a selector as it comes in a query. The error's text is that of kube-apiserver's answer.
func ParseLabels(text string) (Labels, error) {
	requirements, err := parseRequirements(text)
	if err != nil {
		return Labels{}, err
	}
	return newLabels(requirements), nil
}

func newLabels(requirements []LabelRequirement) Labels {
	slices.SortStableFunc(requirements, func(a, b LabelRequirement) int { return cmp.Compare(a.Key, b.Key) })
	return Labels{requirements: requirements}
}

// Empty tells whether everything is selected.
func (l Labels) Empty() bool { return len(l.requirements) == 0 }

// Requirements returns the conditions, sorted by key. The slice is shared: read only.
func (l Labels) Requirements() []LabelRequirement { return l.requirements }

// Matches tells whether an object with these labels is selected.
func (l Labels) Matches(labels map[string]string) bool {
	for i := range l.requirements {
		if !l.requirements[i].matches(labels) {
			return false
		}
	}
	return true
}

// String writes the selector so that ParseLabels reads the same one.
func (l Labels) String() string {
	parts := make([]string, len(l.requirements))
	for i, requirement := range l.requirements {
		parts[i] = requirement.String()
	}
	return strings.Join(parts, ",")
}

// ParseLabelSelector reads a selector as it stands in an object: matchLabels and matchExpressions. A selector without
// either selects everything.
func ParseLabelSelector(tree map[string]any) (Labels, error) {
	var requirements []LabelRequirement
	labels, _ := tree["matchLabels"].(map[string]any)
	for key, value := range labels {
		text, ok := value.(string)
		if !ok {
			return Labels{}, fmt.Errorf("the value of label %q is not a text", key)
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
		if err := checkKey(requirements[i].Key); err != nil {
			return Labels{}, err
		}
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
			return LabelRequirement{}, fmt.Errorf("a value for label %q is not a text", key)
		}
		values = append(values, text)
	}
	if needs := operator == In || operator == NotIn; needs != (len(values) > 0) {
		return LabelRequirement{}, fmt.Errorf("%d values for label %q do not go with operator %s", len(values), key, name)
	}
	slices.Sort(values)
	return LabelRequirement{Key: key, Operator: operator, Values: slices.Compact(values)}, nil
}
