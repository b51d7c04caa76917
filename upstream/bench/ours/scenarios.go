package ours

import (
	"slices"

	"orrery/informer"
	"orrery/internal/bench"
	"orrery/internal/bench/dispatchbench"
	"orrery/internal/bench/fifobench"
	"orrery/internal/bench/queuebench"
	"orrery/internal/bench/storebench"
	"orrery/internal/bench/syncbench"
)

// Scenarios returns the work that this project's gears do in the comparison.
func Scenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(queuebench.Orrery()),
		fifobench.Scenarios(fifobench.Orrery()),
		storebench.Scenarios(storebench.Orrery()),
		dispatchbench.Scenarios(dispatchbench.Orrery(informer.Batching)),
		syncbench.Scenarios(syncbench.Orrery()),
	)
}
