// Package ours holds this project's scenarios for the comparison, one function for each form. It
// must not link anything of the original, which the process would initialise and keep in memory; a
// test of package compare checks that.
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

// Scenarios returns the scenarios of the fast forms.
func Scenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(queuebench.Orrery()),
		fifobench.Scenarios(fifobench.Fast()),
		storebench.Scenarios(storebench.Fast()),
		dispatchbench.Scenarios(dispatchbench.Orrery(dispatchbench.Fast)),
		syncbench.Scenarios(syncbench.Orrery()),
	)
}

// TextbookScenarios returns the scenarios of the textbook forms.
func TextbookScenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(queuebench.Textbook()),
		fifobench.Scenarios(fifobench.Textbook()),
		storebench.Scenarios(storebench.Textbook()),
		dispatchbench.Scenarios(dispatchbench.Orrery(dispatchbench.Textbook)),
		syncbench.Scenarios(syncbench.Textbook()),
	)
}

// InOrderScenarios returns the scenarios of the FIFO that keeps every event in order of arrival.
func InOrderScenarios() []bench.Scenario { return fifobench.Scenarios(fifobench.InOrder()) }
