package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/scenes"
)

func newDemoCommand() *cobra.Command {
	options := &demoOptions{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Watch the whole pipeline at work, on nothing but this machine",
		Long: `Runs an API server, the namespace controller and a scripted scene in one process, and shows
what each gear does as it happens: lists and watch events, deltas, the store, handlers,
the queue, the workers, and what is left of the namespace. At the end it says where the
time went, what was learnt, and which files to read. It needs no cluster and leaves
nothing behind.

On a terminal the picture is live; into a pipe or a file it writes plain lines.`,
		Example: `  # a namespace with 320 objects is filled and deleted
  orrery demo

  # why namespaces hang in Terminating
  orrery demo --scene finalizer

  # leave the server and the controller running, for kubectl
  orrery demo --keep`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return usageError{command: command.CommandPath(), err: err}
			}
			return runDemo(command.Context(), options, command.OutOrStdout())
		},
	}
	options.addTo(command.Flags())
	completeFlag(command, "scene", completeScene)
	command.Flags().SortFlags = false
	return command
}

func completeScene(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, scene := range scenes.All() {
		names = append(names, scene.Name+"\t"+scene.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// sceneEntries are the scenes and what happens in each.
func sceneEntries() [][2]string {
	var entries [][2]string
	for _, scene := range scenes.All() {
		entries = append(entries, [2]string{scene.Name, scene.Summary})
	}
	return entries
}

// runDemo is "orrery demo".
func runDemo(ctx context.Context, options *demoOptions, stdout io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	outlivePipes()
	var curtain demo.Curtain
	ctx, release := untilSignal(ctx, func() {
		curtain.Fall()
		fmt.Fprintln(os.Stderr, "\norrery: stopped at once by a second signal")
		os.Exit(exitInterrupted)
	})
	defer release()
	defer suspendable(curtain.Lower, curtain.Raise)()
	defer curtain.Fall()

	config := options.config(stdout)
	config.Out = &lostReader{Writer: stdout, lost: stop}
	if options.keep {
		config.Keep = func(ctx context.Context, server *apiserver.Server) error {
			return keepServer(ctx, options, server, config.Out)
		}
	}
	err := demo.Run(ctx, config, &curtain)
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "listen" {
		return listenError(options.listen, err)
	}
	return err
}

// keepServer leaves the server running and says what to do with it.
func keepServer(ctx context.Context, options *demoOptions, server *apiserver.Server, out io.Writer) error {
	path, remove, err := placeKubeconfig(server, options.kubeconfigOut)
	if err != nil {
		return err
	}
	defer remove()
	fmt.Fprintf(out, keptText, server.URL(), shellQuoted(path))
	<-ctx.Done()
	fmt.Fprintln(out, "\nServer and controller have ended, and everything that was in them.")
	return nil
}

const keptText = `
Server and controller go on, at %s.
In another terminal:

  export KUBECONFIG=%s
  kubectl get namespaces
  kubectl create namespace mine
  kubectl -n mine create configmap something --from-literal=a=b
  kubectl delete namespace mine     # the controller looks 5 s later

Ctrl-C ends both.
`
