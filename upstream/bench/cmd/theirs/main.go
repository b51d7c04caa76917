// Command theirs is the other side of the comparison. Without an argument it is client-go;
// "priority" selects controller-runtime's priority queue, and "realfifo" the FIFO that client-go's
// informers use by default.
package main

import (
	"os"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/syncbench"
	"orrery/upstream/bench/theirs"
)

var others = map[string]func() []bench.Scenario{
	"priority": theirs.PriorityScenarios,
	"realfifo": theirs.RealFIFOScenarios,
}

func main() {
	syncbench.ServeIfAsked()
	if len(os.Args) > 1 {
		if scenarios, ok := others[os.Args[1]]; ok {
			os.Exit(bench.WorkerMain(scenarios(), append([]string{os.Args[0] + " " + os.Args[1]}, os.Args[2:]...)))
		}
	}
	os.Exit(bench.WorkerMain(theirs.Scenarios(), os.Args))
}
