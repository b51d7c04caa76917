package selector

import (
	"fmt"
	"slices"
)

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
