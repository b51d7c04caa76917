package compare

import (
	"fmt"
	"slices"
)

// Only returns the measures that somebody asks for: by a group ("queue"), a scenario ("queue/cycle") or a name
// ("queue/cycle ns/op"). Something that matches nothing is an error.
func Only(measures []Measure, wanted []string) ([]Measure, error) {
	var chosen []Measure
	for _, m := range measures {
		if slices.ContainsFunc(wanted, m.matches) {
			chosen = append(chosen, m)
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(measures, func(m Measure) bool { return m.matches(w) }) {
			return nil, fmt.Errorf("there is no measure %q; -list names them all", w)
		}
	}
	return chosen, nil
}

// matches tells whether somebody who asks for a name or a group means the measure.
func (m Measure) matches(asked string) bool {
	scenario := m
	scenario.Scenario = m.title()
	return m.Name == asked || m.isOf(asked) || scenario.isOf(asked)
}
