package democmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/gears"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/servecmd"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/scenes"
	"orrery/internal/program"
)

// New returns the command demo.
func New() *cobra.Command {
	options := &demoOptions{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Watch the whole pipeline at work, on nothing but this machine",
		Long: `Runs an API server, the namespace controller and a scripted scene in one
process, and shows what each gear does as it happens: lists and watch events,
deltas, the store, handlers, the queue, the workers, and what is left of the
namespace. At the end it says where the time went, what was learnt, and which
files to read. It needs no cluster and leaves nothing behind.

On a terminal the picture is live; into a pipe or a file it writes plain lines.

The scenes:

` + "  " + strings.Join(sceneLines("\n    "), "\n  "),
		Example: `  # a namespace with 320 objects is filled and deleted
  lab demo

  # why namespaces hang in Terminating
  lab demo --scene finalizer

  # leave the server and the controller running, for kubectl
  lab demo --keep`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			return runDemo(command.Context(), options, command.OutOrStdout())
		},
	}
	options.addTo(command.Flags())
	program.Complete(command, "scene", sceneLines("\t")...)
	program.CompleteList(command, "gears", gears.Completions)
	program.CompleteFiles(command, "kubeconfig-out")
	return command
}

// sceneLines are the names of the scenes, each with what happens in it behind the separator.
func sceneLines(separator string) []string {
	var lines []string
	for _, scene := range scenes.All() {
		lines = append(lines, scene.Name+separator+scene.Summary)
	}
	return lines
}

// runDemo is "lab demo".
func runDemo(ctx context.Context, options *demoOptions, stdout io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	program.OutlivePipes()
	var curtain demo.Curtain
	ctx, release := program.UntilSignal(ctx, func() {
		curtain.Fall()
		fmt.Fprintln(os.Stderr, "\nlab: stopped at once by a second signal")
		os.Exit(program.ExitInterrupted)
	})
	defer release()
	defer suspendable(curtain.Lower, curtain.Raise)()
	defer curtain.Fall()

	config := options.config(stdout)
	out := program.NewOutput(program.NewLostReader(stdout, stop), stop)
	config.Out = out
	if options.keep {
		kept := keptServer{options: options}
		defer kept.forget()
		config.Started = kept.announce
		config.Keep = func(ctx context.Context, server *apiserver.Server) error {
			return kept.wait(ctx, server, config.Out)
		}
	}
	err := demo.Run(ctx, config, &curtain)
	if failed := out.Err(); failed != nil {
		return fmt.Errorf("the scene cannot be shown: %w", failed)
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "listen" {
		return servecmd.ListenError(options.listen, err)
	}
	return err
}

// keptServer is a server that others may talk to, with kubectl, from the beginning of the scene on and after its end.
type keptServer struct {
	options    *demoOptions
	kubeconfig string
	remove     func() // nil before announce
}

// announce writes the kubeconfig and returns how to use it.
func (k *keptServer) announce(server *apiserver.Server) (string, error) {
	path, remove, err := servecmd.PlaceKubeconfig(server, k.options.kubeconfigOut)
	if err != nil {
		return "", err
	}
	k.kubeconfig, k.remove = servecmd.ShellQuoted(path), remove
	return "export KUBECONFIG=" + k.kubeconfig + " in another terminal lets kubectl take part", nil
}

// forget removes the kubeconfig, unless it was asked for by name.
func (k *keptServer) forget() {
	if k.remove != nil {
		k.remove()
	}
}

// wait leaves the server running and says what to do with it.
func (k *keptServer) wait(ctx context.Context, server *apiserver.Server, out io.Writer) error {
	fmt.Fprintf(out, keptText, server.URL(), k.kubeconfig)
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
