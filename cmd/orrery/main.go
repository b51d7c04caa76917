// Command orrery runs Kubernetes controllers on a runtime that is built by hand, without client-go.
//
// "orrery run" deletes the content of namespaces on a real cluster, in place of
// kube-controller-manager's own namespace controller. The other program, lab, has scenes, an API
// server in memory and benchmarks.
package main

import (
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/words"
)

func main() {
	runtime.MemProfileRate = 0 // its samples are for --profiling, which switches them on
	os.Exit(runProgram(newCommand(os.Args[0]), os.Args[1:], os.Stdout, os.Stderr))
}

// newCommand returns the command of the program that was started by a path.
func newCommand(path string) *cobra.Command {
	if isPlugin(path) {
		return newPluginCommand()
	}
	return newRootCommand()
}

// runProgram runs a program and returns its exit code. Nothing that a cluster says reaches the
// terminal as it is; the log, which has colours, sees to that itself.
func runProgram(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	return program.Run(root, args, words.NewWriter(stdout), words.NewWriter(stderr), explain)
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "orrery",
		Short: "Kubernetes controllers on a runtime built by hand",
		Long: `Orrery is the Kubernetes controller runtime rebuilt by hand in Go: a reflector
that lists and watches over raw HTTP, a DeltaFIFO, an indexer, a shared
processor, a work queue and a worker pool. On top of them stands the namespace
controller, which deletes namespaces on a real cluster. To see it work without a
cluster, use the other program: lab demo.`,
		Example: `  # delete namespaces on the cluster that kubectl talks to
  orrery run

  # see what it would do, without writing anything
  orrery run --dry-run

  # the leader and the terminating namespaces
  orrery status

  # why a namespace hangs in Terminating, and what to do
  orrery why shop

  # the minimal rights
  orrery rbac`,
	}
	root.AddCommand(newRunCommand(), newStatusCommand(), newWhyCommand(), newRBACCommand(),
		program.NewVersionCommand(root.Name()))
	return root
}
