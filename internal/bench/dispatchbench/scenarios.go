package dispatchbench

import "orrery/internal/bench"

// Scenarios are the fixed pieces of work of the comparison.
func Scenarios(subject Subject) []bench.Scenario {
	return nil
}
