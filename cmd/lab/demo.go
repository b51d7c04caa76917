// Package demo has the commands "lab demo", a scene with every gear of the controller, live on a
// terminal or as lines, and "lab replay", which shows a recording of it.
//
// The first turns flags and the terminal into a [demo.Config]; package demo does the rest. With
// --keep the server keeps running for kubectl. The terminal is restored when the command returns.
package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orrery/cmd/lab/serve"
	"orrery/controller/gears"
	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo"
	"orrery/internal/lab/demo/story"
	"orrery/internal/words"
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
files to read. It needs no cluster and leaves nothing behind. Some scenes show
single gears, without the controller.

On a terminal the picture is live; into a pipe or a file it writes plain lines.

The scenes; begin with the first six:

` + "  " + strings.Join(sceneLines("\n    "), "\n  "),
		Example: `  # fill a namespace with 320 objects and delete it
  lab demo

  # why namespaces hang in Terminating
  lab demo --scene finalizer

  # keep the server and the controller running, for kubectl
  lab demo --keep`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			scene, _ := demo.Named(options.scene) // it was checked
			if options.view && len(scene.Question().Choices) > 0 && !command.Flags().Changed("gears") {
				_ = options.gears.Set(gears.Textbook) // it exists
			}
			return runDemo(command.Context(), options, command.OutOrStdout())
		},
	}
	options.addTo(command.Flags())
	program.Complete(command, "scene", sceneLines("\t")...)
	program.Complete(command, "lang", string(words.English), string(words.Chinese))
	program.Complete(command, "gears", gears.Fast, gears.Textbook)
	return command
}

// sceneLines returns a line for each scene: name, separator, summary.
func sceneLines(separator string) []string {
	var lines []string
	for _, scene := range demo.All() {
		lines = append(lines, scene.Name+separator+scene.Words().Summary.English)
	}
	return lines
}

// runDemo is "lab demo".
func runDemo(ctx context.Context, options *demoOptions, stdout io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	program.OutlivePipes()
	config := options.config(stdout)
	ctx, release := program.UntilSignal(ctx, func() {
		if config.Size != nil {
			fmt.Fprint(stdout, story.Restore)
		}
		fmt.Fprintln(os.Stderr, "\nlab: stopped at once by a second signal")
		os.Exit(program.ExitInterrupted)
	})
	defer release()
	suspendable := func() {}
	if config.Size != nil {
		suspendable = unsuspendable()
	}
	defer suspendable()
	out := program.NewOutput(program.NewLostReader(stdout, stop), stop)
	config.Out = out
	if options.keep {
		defer keep(&config, suspendable)()
	}
	recorded, err := options.startRecording(ctx, out)
	if err != nil {
		return err
	}
	defer recorded.close()
	config.Recorder, config.Gates = recorded.recorder, recorded.gates
	err = demo.Run(recorded.running, config)
	if failed := recorded.stop(); failed != nil {
		return fmt.Errorf("the recording is incomplete: %w", failed)
	}
	if err == nil {
		recorded.linger(ctx, out)
	}
	if failed := out.Err(); failed != nil {
		return fmt.Errorf("cannot show the scene: %w", failed)
	}
	return cmp.Or(err, program.Stopped(ctx))
}

// keep lets kubectl use the server of a scene, during the scene and after its end, when the picture
// stands and suspendable is called. forget removes the kubeconfig.
func keep(config *demo.Config, suspendable func()) (forget func()) {
	kubeconfig, remove := "", func() {}
	config.Started = func(server *apiserver.Server) (string, error) {
		path, removePath, err := serve.PlaceKubeconfig(server, "", false)
		if err != nil {
			return "", err
		}
		kubeconfig, remove = serve.ShellQuoted(path), removePath
		return "export KUBECONFIG=" + kubeconfig + " in another terminal lets kubectl take part", nil
	}
	config.Keep = func(ctx context.Context, server *apiserver.Server) error {
		suspendable()
		fmt.Fprintf(config.Out, keptText, server.URL(), kubeconfig)
		<-ctx.Done()
		fmt.Fprintln(config.Out, "\nServer and controller have stopped; their data is gone.")
		return nil
	}
	return func() { remove() }
}

const keptText = `
Server and controller keep running, at %s.
In another terminal:

  export KUBECONFIG=%s
  kubectl get namespaces
  kubectl create namespace mine
  kubectl -n mine create configmap something --from-literal=a=b
  kubectl delete namespace mine     # the controller starts 5 s later

Ctrl-C ends both.
`
