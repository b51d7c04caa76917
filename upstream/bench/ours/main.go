// Command ours is this project's side of the comparison. Its first argument selects the forms: none
// for the fast form of each gear, "textbook", or "inorder" for the FIFO that keeps every event. It
// links nothing of the original, which the process would initialise and keep in memory.
package main

import (
	"os"
	"slices"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/dispatchbench"
	"orrery/internal/lab/bench/fifobench"
	"orrery/internal/lab/bench/queuebench"
	"orrery/internal/lab/bench/storebench"
	"orrery/internal/lab/bench/syncbench"
)

func main() {
	syncbench.ServeIfAsked()
	forms := map[string][]bench.Scenario{
		"": slices.Concat(
			queuebench.Scenarios(queuebench.Orrery()),
			fifobench.Scenarios(fifobench.Fast()),
			storebench.Scenarios(storebench.Fast()),
			dispatchbench.Scenarios(dispatchbench.Orrery(dispatchbench.Fast)),
			syncbench.Scenarios(syncbench.Orrery()),
		),
		"textbook": slices.Concat(
			queuebench.Scenarios(queuebench.Textbook()),
			fifobench.Scenarios(fifobench.Textbook()),
			storebench.Scenarios(storebench.Textbook()),
			dispatchbench.Scenarios(dispatchbench.Orrery(dispatchbench.Textbook)),
			syncbench.Scenarios(syncbench.Textbook()),
		),
		"inorder": fifobench.Scenarios(fifobench.InOrder()),
	}
	os.Exit(bench.WorkerMain(forms, os.Args))
}
