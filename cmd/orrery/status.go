package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/cluster"
	"orrery/internal/app/program"
	"orrery/internal/why"
	"orrery/restclient/kubeconfig"
)

// statusOptions are the flags of "orrery status". A flag that "orrery run" also has has the same
// meaning.
type statusOptions struct {
	cluster clusterOptions
	lease   leaseOptions
	output  string
}

// The exit codes of "orrery status".
const (
	statusUnhealthy = 1
	statusUnknown   = 2
)

// statusTimeout bounds all requests.
const statusTimeout = 30 * time.Second

func newStatusCommand() *cobra.Command {
	options := &statusOptions{}
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the leader and the terminating namespaces",
		Long: `Shows the leader and since when it leads, and the terminating namespaces, for
how long and what their conditions say. Whether they are stuck, "orrery why -A"
says. It only reads, with two requests and one more for every 500 namespaces.

Exit codes:
  0  there is a leader
  1  there is no leader
  2  the state could not be determined; the last line says why`,
		Example: `  # the cluster that kubectl talks to
  orrery status

  # for scripts, with the seconds that each namespace has been terminating
  orrery status --context staging -o json`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			ctx, cancel := context.WithTimeout(command.Context(), statusTimeout)
			defer cancel()
			report, err := options.report(ctx, command.ErrOrStderr())
			if err != nil {
				return program.CodedError{Err: err, Code: statusUnknown}
			}
			return options.print(command.OutOrStdout(), report)
		},
	}
	program.SetUsageCode(command, statusUnknown)
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	program.CompleteFiles(command, "kubeconfig")
	return command
}

func (o *statusOptions) addTo(flags *pflag.FlagSet) {
	o.cluster.addTo(flags)
	o.lease.addTo(flags)
	program.WordVar(flags, &o.output, "output", "o", "output format", []string{outputText, outputJSON},
		"form of the output")
}

func (o *statusOptions) check() error {
	return cmp.Or(o.lease.check(), o.cluster.check())
}

// report asks the cluster.
func (o *statusOptions) report(ctx context.Context, stderr io.Writer) (*cluster.Status, error) {
	config, _, err := kubeconfig.Load(o.cluster.of())
	if err != nil {
		return nil, err
	}
	client, end, err := readingClient(config, "status", stderr)
	if err != nil {
		return nil, err
	}
	defer end()
	report, err := cluster.ReadStatus(ctx, client, o.lease.namespace, o.lease.name)
	if err != nil {
		return nil, &startError{doing: "reading the status", server: config.Host, err: err}
	}
	return report, nil
}

func (o *statusOptions) print(stdout io.Writer, report *cluster.Status) error {
	write := report.WriteText
	if o.output == outputJSON {
		write = func(w io.Writer) error { return why.WriteJSON(w, report) }
	}
	err := write(stdout)
	switch {
	case err != nil: // not wrapped, because [program.Run] gives it the exit code 1
		return program.CodedError{Err: fmt.Errorf("the output cannot be written: %v", err), Code: statusUnknown}
	case len(report.Problems) > 0:
		return program.Exit(statusUnhealthy)
	}
	return nil
}
