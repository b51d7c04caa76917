// Command theirs is client-go's side of "make bench": its queue, FIFO, store, informer and client on
// the workloads of internal/lab/bench. Command compare runs it as a worker process, beside command
// ours. Its first argument may name another original:
// "priority" is controller-runtime's priority queue, and "realfifo" the FIFO that client-go's
// informers use by default.
//
// Its adapters satisfy the workloads' small interfaces. What they add, such as boxing an object in
// an interface, every user of the original must add too, so it belongs to the figure. The versions
// are those of go.mod, with default feature gates, and each part is used as its documentation
// recommends.
package main

import (
	"os"
	"slices"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/workloads"
)

func main() {
	workloads.ServeIfAsked() // the sync benchmark starts this program again, as its server
	forms := map[string][]bench.Scenario{
		"": slices.Concat(
			workloads.QueueScenarios(Queue()),
			FIFO().Scenarios(),
			Store().Scenarios(),
			workloads.DispatchScenarios(Dispatch()),
			workloads.SyncScenarios(Sync()),
		),
		"priority": workloads.QueueScenarios(PriorityQueue()),
		"realfifo": RealFIFO().Scenarios(),
	}
	os.Exit(bench.WorkerMain(forms, os.Args))
}
