package ours

import (
	"slices"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/dispatchbench"
	"orrery/internal/lab/bench/fifobench"
	"orrery/internal/lab/bench/queuebench"
	"orrery/internal/lab/bench/storebench"
	"orrery/internal/lab/bench/syncbench"
)

// Scenarios returns the work that this project's gears do in the comparison.
func Scenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(queuebench.Orrery()),
		fifobench.Scenarios(fifobench.Fast()),
		storebench.Scenarios(storebench.Fast()),
		dispatchbench.Scenarios(dispatchbench.Orrery(dispatchbench.Fast)),
		syncbench.Scenarios(syncbench.Orrery()),
	)
}
