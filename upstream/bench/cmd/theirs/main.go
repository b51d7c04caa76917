// Command theirs is the other side of the comparison: client-go, or with "priority" as its first argument the priority
// queue of controller-runtime.
package main

import (
	"os"

	"orrery/internal/bench/syncbench"
	"orrery/internal/bench/worker"
	"orrery/upstream/bench/theirs"
)

func main() {
	syncbench.ServeIfAsked()
	if len(os.Args) > 1 && os.Args[1] == "priority" {
		os.Exit(worker.Main(theirs.PriorityScenarios(), append([]string{os.Args[0] + " priority"}, os.Args[2:]...)))
	}
	os.Exit(worker.Main(theirs.Scenarios(), os.Args))
}
