// Command ours is this project's side of the comparison. Its first argument selects the forms: none
// for the fast form of each gear, "textbook", or "inorder" for the FIFO that keeps every event. It
// links nothing of the original, which the process would initialise and keep in memory.
package main

import (
	"os"
	"slices"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/workloads"
)

func main() {
	workloads.ServeIfAsked()
	forms := map[string][]bench.Scenario{
		"": slices.Concat(
			workloads.QueueScenarios(workloads.FastQueue()),
			workloads.FastFIFO().Scenarios(),
			workloads.FastStore().Scenarios(),
			workloads.DispatchScenarios(workloads.DesignFast),
			workloads.SyncScenarios(workloads.FastSync()),
		),
		"textbook": slices.Concat(
			workloads.QueueScenarios(workloads.TextbookQueue()),
			workloads.TextbookFIFO().Scenarios(),
			workloads.TextbookStore().Scenarios(),
			workloads.DispatchScenarios(workloads.DesignTextbook),
			workloads.SyncScenarios(workloads.TextbookSync()),
		),
		"inorder": workloads.InOrderFIFO().Scenarios(),
	}
	os.Exit(bench.WorkerMain(forms, os.Args))
}
