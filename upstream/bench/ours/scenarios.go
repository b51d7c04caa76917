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

// Scenarios returns the work that the fast forms of this project's gears do in the comparison.
func Scenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(queuebench.Orrery()),
		fifobench.Scenarios(fifobench.Fast()),
		storebench.Scenarios(storebench.Fast()),
		dispatchbench.Scenarios(dispatchbench.Orrery(dispatchbench.Fast)),
		syncbench.Scenarios(syncbench.Orrery()),
	)
}

// TextbookScenarios returns the work that the textbook forms do.
func TextbookScenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(queuebench.Textbook()),
		fifobench.Scenarios(fifobench.Textbook()),
		storebench.Scenarios(storebench.Textbook()),
		dispatchbench.Scenarios(dispatchbench.Orrery(dispatchbench.Textbook)),
		syncbench.Scenarios(syncbench.Textbook()),
	)
}

// InOrderScenarios returns the work that the FIFO does which keeps every event in order of arrival.
func InOrderScenarios() []bench.Scenario { return fifobench.Scenarios(fifobench.InOrder()) }
