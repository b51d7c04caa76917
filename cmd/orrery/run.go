package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"orrery/informer"
	"orrery/internal/controllers"
	"orrery/internal/logs"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/kubeconfig"
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
	logger := logs.New(logs.Config{
		Writer:    stderr,
		Format:    logs.Format(options.logFormat),
		Verbosity: options.verbosity,
		Color:     wantsColor(stderr),
	})
	initializers := map[string]controllers.Initializer{
		namespaceControllerName: startNamespaceController(options, logger),
	}

	ctx, release := untilSignal(ctx, func() {
		logger.Warn().Msg("stopped at once by a second signal, what was in hand is left as it is")
		os.Exit(exitInterrupted)
	})
	defer release()

	client, err := connect(options, logger)
	if err != nil {
		return err
	}
	defer client.Close()
	available, err := greet(ctx, client, logger)
	if ctx.Err() != nil {
		return nil // told to stop before it began
	}
	if err != nil {
		return err
	}

	// Informers end after the controllers: a controller that finishes what it has in hand reads their stores.
	informersCtx, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	informers := &informer.SharedInformerFactory{}
	defer informers.Shutdown()
	defer stopInformers()

	running, err := controllers.Start(ctx, informersCtx, initializers, selection, controllers.Context{
		Client:    client,
		Informers: informers,
		Available: available,
	})
	if err != nil {
		return err
	}
	for _, name := range running.Skipped {
		logger.Warn().Str("controller", name).Msg("controller skipped, the API server does not have its resource")
	}
	for _, name := range running.Started {
		logger.Info().Str("controller", name).Bool("dry_run", options.dryRun).Msg("controller started")
	}
	if len(running.Started) == 0 {
		return errNothingToRun
	}

	<-ctx.Done()
	logger.Info().Dur("at_most_s", options.drainTimeout).Msg("stopping: finishing what is in hand; press Ctrl-C again to stop at once")
	running.Wait()
	logger.Info().Msg("stopped")
	return nil
}

// exitInterrupted is the exit code after a second Ctrl-C: 128 and the number of the signal, as shells have it.
const exitInterrupted = 130

// connect reads the configuration and makes the client. It does not send anything yet.
func connect(options *runOptions, logger *logs.Logger) (*restclient.Client, error) {
	config, info, err := kubeconfig.Load(kubeconfig.Options{Path: options.kubeconfig, Context: options.context})
	if err != nil {
		return nil, err
	}
	for _, warning := range info.Warnings {
		if warning.Kind == kubeconfig.WarningInsecure {
			continue // the client says so as well
		}
		logger.Warn().Str("warning", warning.Text).Msg("kubeconfig")
	}
	config.QPS = options.qps * namespaceQPSFactor
	config.Burst = options.burst * namespaceBurstFactor
	config.WatchTransport = restclient.WatchTransport(options.watchTransport)
	config.UserAgent = "orrery/" + version
	config.Trace = logger.Requests()
	return restclient.New(config)
}

// firstAnswer bounds the requests that are made before anything is started: a server that does not answer is
// reported, not waited for.
const firstAnswer = 30 * time.Second

// greet makes sure that the server answers, that we may watch namespaces, and finds out what resources there are.
// Groups that are not available do not matter here: what needs them is told by the controllers.
func greet(ctx context.Context, client *restclient.Client, logger *logs.Logger) (map[api.GroupVersionResource]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	discoverer := discovery.New(client)
	serverVersion, err := discoverer.ServerVersion(ctx)
	if err != nil {
		return nil, &startError{doing: "reaching the API server", server: client.Config().Host, err: err}
	}
	logger.Info().Str("server", client.Config().Host).Str("version", serverVersion.GitVersion).Msg("connected")
	namespaces := restclient.Metadata(client, api.NamespacesResource, "")
	if _, err := namespaces.List(ctx, api.ListOptions{Limit: 1}); err != nil && !api.IsNotFound(err) {
		return nil, &startError{doing: "listing namespaces", server: client.Config().Host, err: err}
	}
	_, lists, err := discoverer.ServerGroupsAndResources(ctx)
	if err != nil && len(lists) == 0 {
		return nil, &startError{doing: "discovering resources", server: client.Config().Host, err: err}
	}
	return controllers.AvailableResources(lists), nil
}
