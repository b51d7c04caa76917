package compare

import "slices"

// entrant is a side with the scenario that it does.
type entrant struct {
	side     Side
	scenario string
}

// contest is what takes turns: everybody who is compared over one scenario of the other side.
type contest struct {
	// name is the scenario of the other side.
	name     string
	entrants []entrant
	measures []Measure
}

// contests puts the measures together that one series of rounds answers, in the order of the table.
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

// order returns who runs in which turn of a round: every other round backwards, so that nobody always runs on a machine
// that somebody else has just warmed up.
func (c contest) order(round int) []entrant {
	order := slices.Clone(c.entrants)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}
