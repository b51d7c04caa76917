package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"orrery/controller/leaderelection"
	"orrery/controller/manager"
	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/restclient"
)

func newRunCommand() *cobra.Command {
	options := &runOptions{}
	command := &cobra.Command{
		Use:   "run",
		Short: "Run the controllers against a cluster",
		Long: `Runs the namespace controller against a cluster, in place of
kube-controller-manager's own: it deletes the content of namespaces that are
being deleted, and then finalizes them. --controllers runs others beside it, or
in its place (docs/operate/running.md).

It finds the cluster as kubectl does. Several replicas may run: one works, the
others stand by with warm caches. It refuses to start beside another controller
of the same kind that it can see (docs/operate/running.md says where it looks).

The first Ctrl-C (or SIGTERM, or the SIGHUP of a closed terminal) finishes work
in progress, hands over and exits; a second one exits at once. Flags that
kube-controller-manager also has have the same meaning and default.

Exit codes:
  0    stopped by SIGTERM, with all work finished
  1    it could not start, lost the Lease, or was stopped by SIGTERM and could
       not finish within --shutdown-timeout; the last line says why
  130  stopped by Ctrl-C: by the first after work in progress or
       --shutdown-timeout, by a second at once

Environment and files:
  KUBECONFIG             kubeconfig files to merge, instead of ~/.kube/config
  HTTPS_PROXY, NO_PROXY  the proxy to the API server, and the hosts without one
  GOMEMLIMIT             a soft limit for memory, such as 200MiB
  NO_COLOR               if it is set, the log has no colours
  In a pod without a kubeconfig, the pod's service account is used.`,
		Example: `  # the cluster that kubectl talks to
  orrery run

  # write nothing, and log what would be deleted
  orrery run --dry-run

  # a given file and context, more workers, and a line for each request
  orrery run --kubeconfig ./admin.conf --context staging \
    --concurrent-namespace-syncs 20 -v2

  # alone, with no right to a Lease; nothing is served
  orrery run --leader-elect=false --metrics-port 0

  # in a pod: metrics and health for others, logs for machines
  orrery run --bind-address 0.0.0.0 --log-format json

  # the garbage collector as well
  orrery run --controllers '*,garbage-collector-controller'

  # watches over websocket
  orrery run --watch-transport websocket`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			return run(command.Context(), options, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	program.CompleteFiles(command, "kubeconfig")
	return command
}

// run is "orrery run": it connects, starts the selected controllers and waits for a signal.
func run(ctx context.Context, options *runOptions, stdout, stderr io.Writer) (err error) {
	if len(options.chosen) == 0 {
		return errNothingToRun
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	program.OutlivePipes()
	logger := logs.Start(logs.Config{
		Writer:    program.NewLostReader(program.Underlying(stderr), stop),
		Format:    logs.Format(options.logFormat),
		Verbosity: options.verbosity,
		Color:     program.WantsColor(stderr),
	})
	defer logger.Stop()
	if logs.Format(options.logFormat) == logs.JSON {
		defer func() { err = logFailure(logger, err) }()
	}
	defer survivePanics(logger)()
	ctx, release := program.UntilSignal(ctx, func() {
		logger.Warn().Msg("stopped at once by a second signal, work in progress was abandoned")
		os.Exit(program.ExitInterrupted)
	})
	defer release()

	observer, err := startObserver(options.observer, logger)
	if err != nil {
		return err
	}
	defer observer.stop()
	defer context.AfterFunc(ctx, observer.stopping)()
	var fence leaderelection.Fence
	recorder, stopRecorder, err := startRecorder(options, logger, stdout)
	if err != nil {
		return err
	}
	defer stopRecorder()
	client, err := connect(options, logger, observer, recorder, &fence)
	if err != nil {
		return err
	}
	defer client.Close()
	err = greet(ctx, client, options, logger)
	if err == nil {
		err = refuseToStart(ctx, client, options, logger)
	}
	if ctx.Err() != nil {
		release()
		logger.Info().Msg("stopped before it began")
		return program.Stopped(ctx)
	}
	if err != nil {
		return err
	}

	p := &process{
		options: options, logger: logger, observer: observer, recorder: recorder, fence: &fence, client: client,
	}
	p.manager = manager.NewManager(manager.Shared{
		Client: client, QPS: options.qps, Burst: options.burst,
		Gears: options.gears, DrainTimeout: options.drainTimeout, DryRun: options.dryRun, Events: options.events,
		Logger: logger, Metrics: observer.metrics, Server: observer.server, Recording: recorder, Lead: p.lead,
	}, options.chosen)
	synced := p.manager.Synced
	observer.filled.Store(&synced)
	if err := p.run(ctx); err != nil {
		return err
	}
	release() // a second Ctrl-C has no further effect
	return p.stopped(ctx)
}

// logFailure logs why a run has failed, so that the last line of a JSON log is an object, too. It
// returns the error of a command that has printed everything.
func logFailure(logger *logs.Logger, err error) error {
	if _, said := errors.AsType[program.Exit](err); err == nil || said {
		return err
	}
	logger.Error().Str("error", restclient.Redact(explain(err))).Msg("the run has failed")
	return program.Exit(1)
}
