package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"orrery/internal/controllers"
	"orrery/internal/leaderelection"
	"orrery/internal/logs"
)

func newRunCommand() *cobra.Command {
	options := &runOptions{}
	command := &cobra.Command{
		Use:   "run",
		Short: "Run the controllers against a cluster",
		Long: `Runs the namespace controller against a cluster, in place of kube-controller-manager's
own: it empties namespaces that are being deleted and lets them go.

Two namespace controllers do not harm a cluster, but it is not possible to tell which of
them did the work. Switch the built-in one off first (--controllers=*,-namespace-controller
of kube-controller-manager); the README says how to do so on minikube.

The first Ctrl-C finishes what is in hand and exits with 0, a second one exits at once.`,
		Example: `  # the cluster that kubectl talks to
  orrery run

  # a certain file and context, more workers, and a line for each request
  orrery run --kubeconfig ./admin.conf --context staging --concurrent-namespace-syncs 20 -v2

  # look, decide and say what would be deleted
  orrery run --dry-run

  # machine-readable logs, watches over websocket
  orrery run --log-format json --watch-transport websocket`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return usageError{command: command.CommandPath(), err: err}
			}
			return run(command.Context(), options, command.ErrOrStderr())
		},
	}
	options.addTo(command.Flags())
	command.Flags().SortFlags = false
	return command
}

// run is "orrery run": it connects, starts the selected controllers and waits for a signal.
func run(ctx context.Context, options *runOptions, stderr io.Writer) error {
	selection, err := controllers.ParseSelection(options.controllers,
		[]string{namespaceControllerName}, map[string]string{namespaceControllerAlias: namespaceControllerName})
	if err != nil {
		return usageError{command: "orrery run", err: fmt.Errorf("--controllers: %w", err)}
	}
	if !selection.Selects(namespaceControllerName) {
		return errNothingToRun
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	outlivePipes()
	logger := logs.Start(logs.Config{
		Writer:    &lostReader{Writer: stderr, lost: stop},
		Format:    logs.Format(options.logFormat),
		Verbosity: options.verbosity,
		Color:     wantsColor(stderr),
	})
	defer logger.Stop()
	ctx, release := untilSignal(ctx, func() {
		logger.Warn().Msg("stopped at once by a second signal, what was in hand is left as it is")
		os.Exit(exitInterrupted)
	})
	defer release()

	observer, err := startObserver(options.observer, logger)
	if err != nil {
		return err
	}
	defer observer.stop()
	defer context.AfterFunc(ctx, observer.stopping)()
	var fence leaderelection.Fence
	client, err := connect(options, logger, observer, &fence)
	if err != nil {
		return err
	}
	defer client.Close()
	available, err := greet(ctx, client, logger)
	if err == nil {
		err = refuseToStart(ctx, client, options, logger)
	}
	if ctx.Err() != nil {
		release()
		logger.Info().Msg("stopped before it began")
		return nil
	}
	if err != nil {
		return err
	}

	recording := startRecording(client, options, logger)
	defer recording.stop()
	observer.watchEvents(recording)
	resting := newRest(restAfter, giveBackMemory)
	defer resting.stop()
	initializers := map[string]controllers.Initializer{
		namespaceControllerName: startNamespaceController(options, logger, observer, recording, resting.worked),
	}
	p := &process{
		options: options, logger: logger, observer: observer, recording: recording, fence: &fence,
		shared: controllers.Context{Client: client, Available: available},
	}
	if err := p.run(ctx, initializers, selection); err != nil {
		return err
	}
	release() // a second Ctrl-C has nothing left to cut short
	logger.Info().Msg("stopped")
	return nil
}

// exitInterrupted is the exit code when a Ctrl-C has ended something before its end: 128 and the number of the signal, as shells have it.
const exitInterrupted = 130
