package apps

import "slices"

// LabelSelector picks objects by their labels. All of its requirements must hold.
type LabelSelector struct {
	MatchLabels      map[string]string  `json:"matchLabels,omitempty"`
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelRequirement is a requirement on one label. Operator is In, NotIn, Exists or DoesNotExist.
type LabelRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Matches reports whether the selector picks an object with these labels. An empty selector, which
// the server refuses, picks nothing.
func (s LabelSelector) Matches(labels map[string]string) bool {
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return false
	}
	for key, value := range s.MatchLabels {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(r LabelRequirement) bool { return !r.matches(labels) })
}

func (r LabelRequirement) matches(labels map[string]string) bool {
	value, ok := labels[r.Key]
	switch r.Operator {
	case "In":
		return ok && slices.Contains(r.Values, value)
	case "NotIn":
		return !ok || !slices.Contains(r.Values, value)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	}
	return false
}
