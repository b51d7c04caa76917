package main

import (
	"github.com/spf13/cobra"
)

func newRunCommand() *cobra.Command {
	options := &runOptions{}
	command := &cobra.Command{
		Use:   "run",
		Short: "Run the controllers against a cluster",
		Long: `Runs the namespace controller against a cluster, in place of kube-controller-manager's
own: it empties namespaces that are being deleted and lets them go.

It finds the cluster as kubectl does. Several replicas may run: one works, the others
stand by with warm caches. It refuses to start beside another namespace controller that
works. It finds out by looking at kube-controller-manager or, if it may create namespaces,
by deleting one of its own: for some seconds it waits whether somebody takes it down.

The first Ctrl-C (or SIGTERM) finishes what is in hand, hands over and exits, a second one
exits at once. Where kube-controller-manager has a flag of the same name, meaning and
default are the same.`,
		Example: `  # the cluster that kubectl talks to
  orrery run

  # look, decide and say what would be deleted
  orrery run --dry-run

  # a certain file and context, more workers, and a line for each request
  orrery run --kubeconfig ./admin.conf --context staging \
    --concurrent-namespace-syncs 20 -v2

  # alone, with no right to a Lease; nothing is served
  orrery run --leader-elect=false --metrics-port 0

  # in a pod: metrics and health for others, logs for machines
  orrery run --bind-address 0.0.0.0 --log-format json

  # watches over websocket
  orrery run --watch-transport websocket`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return usageError{command: command.CommandPath(), err: err}
			}
			return run(command.Context(), options, command.ErrOrStderr())
		},
	}
	options.addTo(command.Flags())
	beginGroups(command.Flags(), [][2]string{
		{"Cluster", "kubeconfig"},
		{"Work", "controllers"},
		{"Requests", "kube-api-qps"},
		{"Replicas", "leader-elect"},
		{"Other controllers", "allow-second-controller"},
		{"Looking inside", "bind-address"},
		{"Logs", "log-format"},
	})
	completeRun(command)
	command.Flags().SortFlags = false
	return command
}
