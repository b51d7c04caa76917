package selector

import (
	"cmp"
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
