package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"orrery"
	"orrery/controller/gears"
	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/demo"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/internal/words"
)

// newDemoCommand returns "lab demo": a scene with every gear of the controller, live on a terminal
// or as lines. It turns flags and the terminal into a [demo.Config]; package demo does the rest.
// With --keep the server keeps running for kubectl.
func newDemoCommand() *cobra.Command {
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
	if config.Size != nil {
		ignoreSuspend()
	}
	ctx, release := program.UntilSignal(ctx, func() {
		if config.Size != nil {
			fmt.Fprint(stdout, demo.Restore)
		}
		fmt.Fprintln(os.Stderr, "\nlab: stopped at once by a second signal")
		exitAtOnce()
	})
	defer release()
	out := program.NewOutput(program.NewLostReader(stdout, stop), stop)
	config.Out = out
	if options.keep {
		defer keep(&config)()
	}
	recorded, err := options.startRecording(ctx, out)
	if err != nil {
		return err
	}
	defer recorded.close()
	config.Recorder, config.Gates = recorded.recorder, recorded.gates
	err = demo.Run(recorded.running, config)
	if recorded.recorder != nil && recorded.recorder.Err() != nil {
		return fmt.Errorf("the recording is incomplete: %w", recorded.recorder.Err())
	}
	if err == nil && recorded.server != nil && ctx.Err() == nil { // the reader wants to look at the end, too
		fmt.Fprintf(out, "\nThe scene is over. The view stays until Ctrl-C: %s\n", recorded.server.URL())
		<-ctx.Done()
	}
	return cmp.Or(err, program.Stopped(ctx))
}

// keep lets kubectl use the server of a scene, during the scene and after its end. forget removes
// the kubeconfig.
func keep(config *demo.Config) (forget func()) {
	kubeconfig, remove := "", func() {}
	config.Started = func(server *apiserver.Server) (string, error) {
		path, removePath, err := placeKubeconfig(server, "")
		if err != nil {
			return "", err
		}
		kubeconfig, remove = shellQuoted(path), removePath
		return "export KUBECONFIG=" + kubeconfig + " in another terminal lets kubectl take part", nil
	}
	config.Keep = func(ctx context.Context, server *apiserver.Server) error {
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

// demoOptions are the flags of "lab demo".
type demoOptions struct {
	scene  string
	lang   string
	keep   bool
	plain  bool
	gears  gears.Set
	record trace.Options
	view   bool
	page   web.Flags
	pages  map[string]string // "lab run --scene": the learner's files, by the page that each stands for
}

func (o *demoOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.scene, "scene", demo.Default, "the `scene` to show: "+strings.Join(demo.Names(), ", "))
	flags.StringVar(&o.lang, "lang", "", "the language of what is told: en or zh-CN; default: that of the locale")
	flags.Var(&o.gears, "gears", "the form of each gear: fast, textbook, or a mixture such as fast,queue=textbook; "+
		"default: fast, with --view textbook in a scene that asks")
	flags.BoolVar(&o.view, "view", false, "show the scene in the browser, live, until Ctrl-C")
	o.page.AddTo(flags)
	flags.StringToStringVar(&o.pages, "yours", nil, "the learner's `files` with which lab run has built this program")
	_ = flags.MarkHidden("yours") // it exists
	o.record.AddTo(flags)
	flags.BoolVar(&o.keep, "keep", false, "keep server and controller running after the scene, for kubectl")
	flags.BoolVar(&o.plain, "plain", false, "write plain lines even on a terminal, as with --view")
}

// check reports the first invalid value.
func (o *demoOptions) check() error {
	scene, err := demo.Named(o.scene)
	if err != nil {
		return fmt.Errorf("--scene: %w", err)
	}
	_, noLang := words.ParseLang(o.lang)
	if err := cmp.Or(noLang, o.record.Check(), o.page.Check(o.view)); err != nil {
		return err
	}
	if scene.Options.Alone && (o.view || o.record.Wanted()) {
		return fmt.Errorf("the scene %s has no gear that the view or a recording could show", o.scene)
	}
	if o.keep && scene.Options.Bare {
		return fmt.Errorf("the scene %s has no controller that --keep could keep", o.scene)
	}
	return nil
}

// config returns the configuration from the flags and the terminal.
func (o *demoOptions) config(stdout io.Writer) demo.Config {
	lang, _ := words.ParseLang(o.lang) // it was checked
	config := demo.Config{
		Scene: o.scene, Lang: lang, Color: program.WantsColor(stdout), Gears: o.gears,
	}
	file, ok := program.Underlying(stdout).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return config
	}
	size := func() demo.Size {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return demo.Size{Width: 80, Height: 24}
		}
		return demo.Size{Width: width, Height: height}
	}
	if o.plain || o.view || os.Getenv("TERM") == "dumb" {
		config.Width = size().Width
	} else {
		config.Size = size
	}
	return config
}

// recorded is the recording of a scene, for the page and for files.
type recorded struct {
	running  context.Context // of the run, see demo.Recorded
	release  func()
	recorder *trace.Recorder // nil: nothing is recorded
	server   *web.View       // nil: there is no page
	gates    *demo.Gates     // nil: there is no page
}

// startRecording starts what the flags demand. The caller must call close.
func (o *demoOptions) startRecording(ctx context.Context, out io.Writer) (r recorded, err error) {
	r.running, r.release = ctx, func() {}
	if !o.view && !o.record.Wanted() {
		return r, nil
	}
	scene, _ := demo.Named(o.scene) // it was checked
	r.recorder, err = trace.Start(o.record.Config(trace.Header{
		Run: "lab demo", Mode: "lab", Scene: o.scene, Gears: o.gears.String(), Build: program.Version,
		Workers: scene.Workers(), Yours: slices.Sorted(maps.Keys(o.pages)),
	}))
	if err != nil {
		return r, fmt.Errorf("cannot record: %w", err)
	}
	r.recorder.Scene(o.scene, "")
	r.running, r.release = demo.Recorded(ctx, r.recorder, "the scene was stopped")
	if !o.view {
		return r, nil
	}
	r.gates = demo.NewGates(r.running, r.recorder)
	r.gates.Guide(scene.Question())
	code := web.Code{Files: orrery.Source, Yours: map[string]web.YourPage{}}
	for path, file := range o.pages {
		code.Yours[path] = web.YourPage{File: file}
	}
	if r.server, err = o.page.Start(web.ViewConfig{Source: r.recorder, Control: r.gates, Code: code}, out); err != nil {
		r.close()
	}
	return r, err
}

// close ends the page.
func (r recorded) close() {
	r.release()
	r.recorder.Stop("the scene has ended")
	if r.server != nil {
		r.server.Stop()
	}
}
