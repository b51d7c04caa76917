// Command lab is the laboratory of the project: the workshop, scenes to watch, an API server in
// memory, and benchmarks of the gears. It needs only this machine. The deployed program is orrery.
package main

import (
	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench/workloads"
)

func main() {
	workloads.ServeIfAsked()
	program.Main(newRootCommand(), error.Error)
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "lab",
		Short: "The laboratory of Orrery: watch, try out and measure the gears of a Kubernetes controller",
		Long: `The laboratory of Orrery, the Kubernetes controller runtime rebuilt by hand:
a workshop in which you rebuild the gears, scenes that show each gear at work,
an API server in memory, and benchmarks. It needs nothing but this machine. The
controller that runs on a cluster is the other program: orrery run.`,
		Example: `  # watch a namespace being deleted, gear by gear, without any cluster
  lab demo

  # rebuild the work queue
  lab start 08

  # an API server of your own, without a cluster
  lab serve

  # how fast is the work queue, and how long does a key wait in it?
  lab bench queue`,
	}
	addCourse(root)
	root.AddCommand(
		newDemoCommand(), newBreakCommand(), newReplayCommand(), newServeCommand(), newBenchCommand(),
		program.NewVersionCommand(root.Name()), newFaultsTopic(),
	)
	return root
}
