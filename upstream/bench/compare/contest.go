package compare

import "slices"

// entrant is a side with its scenario.
type entrant struct {
	side     Side
	scenario string
}

// contest is one scenario of the other side, with every side that is compared over it.
type contest struct {
	// name is the other side's scenario.
	name     string
	entrants []entrant
	measures []Measure
}

// contests groups the measures that one series of rounds answers, in the order of the table.
func contests(measures []Measure) []contest {
	var all []contest
	for _, m := range measures {
		ours, theirs := m.entrants()
		at := slices.IndexFunc(all, func(c contest) bool { return c.name == theirs.scenario })
		if at < 0 {
			at = len(all)
			all = append(all, contest{name: theirs.scenario})
		}
		c := &all[at]
		c.measures = append(c.measures, m)
		entrants := []entrant{ours, theirs}
		if textbook, ok := m.textbook(); ok {
			entrants = append(entrants, textbook)
		}
		for _, e := range entrants {
			if !slices.Contains(c.entrants, e) {
				c.entrants = append(c.entrants, e)
			}
		}
	}
	return all
}

// order returns the order of a round. Every other round runs backwards, so that no side always
// follows the same one on a warm machine.
func (c contest) order(round int) []entrant {
	order := slices.Clone(c.entrants)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}
