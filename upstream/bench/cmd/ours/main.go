// Command ours is this project's side of the comparison. It links nothing of the original.
package main

import (
	"os"

	"orrery/internal/lab/bench/syncbench"
	"orrery/internal/lab/bench/worker"
	"orrery/upstream/bench/ours"
)

func main() {
	syncbench.ServeIfAsked()
	os.Exit(worker.Main(ours.Scenarios(), os.Args))
}
