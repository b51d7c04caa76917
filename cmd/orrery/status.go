package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/app/status"
	"orrery/restclient/kubeconfig"
)

// statusOptions are the flags of "orrery status". A flag that "orrery run" also has has the same
// meaning.
type statusOptions struct {
	address        string
	cluster        clusterOptions
	leaseNamespace string
	leaseName      string
	limit          int
	output         string
	replicaTimeout time.Duration

	flags *pflag.FlagSet
}

// The exit codes of "orrery status".
const (
	statusUnhealthy = program.Exit(1)
	statusUnknown   = program.Exit(2)
)

const outputText = "text"

// statusTimeout bounds all requests, and replicaTimeout the request to a replica: one
// that hangs must leave time to ask the cluster.
const (
	statusTimeout  = 30 * time.Second
	replicaTimeout = 5 * time.Second
)

func newStatusCommand() *cobra.Command {
	options := &statusOptions{}
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the leader, the queue, and the terminating namespaces",
		Long: `Shows the leader and since when it leads, how much work waits, and the
terminating namespaces, for how long and what their conditions say. Whether they
are stuck, "orrery why -A" says. It only reads, with one to three requests.

It asks the "orrery run" whose debug address is given, or the one at
` + statusAddress() + `. If none answers there, or if --kubeconfig, --context or --as
is given, it asks the cluster, which knows the Lease and the namespaces but no
backlog. A replica at ` + statusAddress() + ` that works for another cluster than the
kubeconfig's ($KUBECONFIG, or ~/.kube/config) is refused.

Exit codes:
  0  there is a leader
  1  there is no leader, or the replica cannot watch
  2  the state could not be determined; the last line says why`,
		Example: `  # the replica on this machine, or else the cluster that kubectl talks to
  orrery status

  # a replica in a pod, by kubectl -n kube-system port-forward
  orrery status --address 127.0.0.1:9000

  # for scripts, with the seconds that each namespace has been terminating
  orrery status --context staging -o json`,
		Args: func(command *cobra.Command, args []string) error {
			if err := program.NoArguments(command, args); err != nil {
				return cannotTell(command, err)
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return cannotTell(command, program.UsageError{Command: command.CommandPath(), Err: err})
			}
			ctx, cancel := context.WithTimeout(command.Context(), statusTimeout)
			defer cancel()
			report, err := options.report(ctx, command.ErrOrStderr())
			if err != nil {
				return cannotTell(command, err)
			}
			return options.print(command, report)
		},
	}
	command.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return cannotTell(command, program.UsageError{Command: command.CommandPath(), Err: program.FlagError(err)})
	})
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	completeCluster(command)
	return command
}

func (o *statusOptions) addTo(flags *pflag.FlagSet) {
	o.flags, o.replicaTimeout = flags, replicaTimeout
	flags.StringVar(&o.address, "address", statusAddress(), "the debug `address` of the replica to ask: host:port")
	o.cluster.addTo(flags)
	flags.StringVar(&o.leaseNamespace, "leader-elect-resource-namespace", "kube-system", "the `namespace` of the Lease in the cluster")
	flags.StringVar(&o.leaseName, "leader-elect-resource-name", "orrery", "the `name` of the Lease in the cluster")
	flags.IntVar(&o.limit, "limit", 50,
		"how many namespaces the text shows, the oldest first; 0: all; -o json always has all")
	program.WordVar(flags, &o.output, "output", "o", "output format", []string{outputText, outputJSON}, "form of the output")
}

// statusAddress returns the default debug address of "orrery run".
func statusAddress() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(defaultMetricsPort)) }

func (o *statusOptions) check() error {
	_, _, err := net.SplitHostPort(o.address)
	switch {
	case err != nil:
		return fmt.Errorf("--address must be host:port, such as %s, not %q", statusAddress(), o.address)
	case o.flags.Changed("address") && o.asksCluster():
		return errors.New("give --address to ask a replica, or --kubeconfig, --context and --as to ask the cluster")
	case o.limit < 0:
		return fmt.Errorf("--limit must not be negative, it is %d", o.limit)
	case o.leaseNamespace == "" || o.leaseName == "":
		return errors.New("--leader-elect-resource-namespace and --leader-elect-resource-name must not be empty")
	}
	return o.cluster.check()
}

func (o *statusOptions) asksCluster() bool {
	return o.flags.Changed("kubeconfig") || o.flags.Changed("context") || o.flags.Changed("as")
}

// report asks the replica or the cluster.
func (o *statusOptions) report(ctx context.Context, stderr io.Writer) (*status.Report, error) {
	if o.flags.Changed("address") {
		return o.askReplica(ctx)
	}
	config, _, err := kubeconfig.Load(o.cluster.of())
	none, _ := errors.AsType[*kubeconfig.NoConfigError](err)
	alone := none != nil && !none.Variable // no cluster is meant but the replica's
	var replica *status.Report
	if !o.asksCluster() && (err == nil || alone) {
		replica, _ = o.askReplica(ctx)
	}
	if replica != nil && alone {
		return replica, nil
	}
	if err != nil {
		return nil, err
	}
	client, end, err := readingClient(config, "status", stderr)
	if err != nil {
		return nil, err
	}
	defer end()
	if replica != nil {
		return replica, status.SameCluster(ctx, client, replica)
	}
	report, err := status.FromCluster(ctx, client, o.leaseNamespace, o.leaseName)
	if err != nil {
		return nil, &startError{doing: "reading the status", server: config.Host, err: err}
	}
	return report, nil
}

// askReplica asks the replica at --address, never through a proxy and nowhere else.
func (o *statusOptions) askReplica(ctx context.Context) (*status.Report, error) {
	direct := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx, cancel := context.WithTimeout(ctx, o.replicaTimeout)
	defer cancel()
	return status.FromReplica(ctx, direct, o.address)
}

func (o *statusOptions) print(command *cobra.Command, report *status.Report) error {
	var err error
	if o.output == outputJSON {
		encoder := json.NewEncoder(command.OutOrStdout())
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		err = report.WriteText(command.OutOrStdout(), o.limit)
	}
	switch {
	case err != nil:
		return cannotTell(command, fmt.Errorf("the output cannot be written: %w", err))
	case len(report.Problems) > 0:
		return statusUnhealthy
	}
	return nil
}

// cannotTell prints why the status is unknown.
func cannotTell(command *cobra.Command, err error) error {
	program.LastWord(command.ErrOrStderr(), command.Root().Name(), explain(err))
	return statusUnknown
}
