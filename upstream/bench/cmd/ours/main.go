// Command ours is this project's side of the comparison. Its first argument selects the forms: none
// for the fast form of each gear, "textbook", or "inorder" for the FIFO that keeps every event. It
// links nothing of the original.
package main

import (
	"os"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/syncbench"
	"orrery/upstream/bench/ours"
)

var others = map[string]func() []bench.Scenario{
	"textbook": ours.TextbookScenarios,
	"inorder":  ours.InOrderScenarios,
}

func main() {
	syncbench.ServeIfAsked()
	if len(os.Args) > 1 {
		if scenarios, ok := others[os.Args[1]]; ok {
			os.Exit(bench.WorkerMain(scenarios(), append([]string{os.Args[0] + " " + os.Args[1]}, os.Args[2:]...)))
		}
	}
	os.Exit(bench.WorkerMain(ours.Scenarios(), os.Args))
}
