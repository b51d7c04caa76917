package machine

import "orrery/informer/reflector"

// step is the machine: what becomes of state s when in happens, and what is to be done. It depends on nothing but
// its arguments and changes nothing. An input for which the table has no row in this phase (a timer that rang while
// the phase was left) changes nothing.
func (r *rules) step(s state, in input) (state, []effect) {
	rows := transitions[s.phase][in.kind]
	for i := range rows {
		row := &rows[i]
		if row.when.holds != nil && !row.when.holds(r, s, in) {
			continue
		}
		next, effects := row.do(r, s, in)
		if note, found := s.zombie(r, in); found {
			next.zombies++
			effects = append([]effect{note}, effects...)
		}
		next.phase = row.to
		if next.phase != s.phase {
			next = next.settle()
		}
		return next, effects
	}
	return s, nil
}

// transition is a row of the table: from a phase, on an input, if a condition holds, to a phase.
type transition struct {
	from reflector.Phase
	on   Input
	when condition // the zero value holds always
	to   reflector.Phase
	do   action
}

// condition is a question about the state and the input, with the words that the diagram uses for it.
type condition struct {
	text  string
	holds func(r *rules, s state, in input) bool
}

// action computes the state and the effects of a transition. The phase is set by the table.
type action func(r *rules, s state, in input) (state, []effect)

// transitions is the table, found by phase and input. Of several rows the first whose condition holds counts.
var transitions = func() (index [phaseCount][inputCount][]transition) {
	for _, row := range table {
		index[row.from][row.on] = append(index[row.from][row.on], row)
	}
	return index
}()
