package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orrery/cmd/lab/serve"
	"orrery/internal/app/program"
	"orrery/internal/lab/causes"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/course/play"
	"orrery/internal/observe/web/view"
)

// runOptions are the flags of "lab run".
type runOptions struct {
	all, scene, bench, keep bool
	build                   string
	view                    bool
	page                    view.Flags
}

func newRunCommand() *cobra.Command {
	o := &runOptions{}
	command := &cobra.Command{
		Use:   "run [NN]",
		Short: "Run the real controller with your page in it",
		Long: `Builds the controller with your page in place of the reference, starts it with
the textbook form of every gear, and plays the lab's script: requests and faults
on an API server in memory, and a check of the outcome. A lab that is not about
this controller runs its own program. The log is in the lab's folder in
workshop/work. At the end server and controller stop; with --keep they keep
running, so that you can use kubectl and look at the gears.

With --build, it only builds the program: for a cluster of yours, which it can
empty. Let it show first what it would do, by its own --dry-run.

With --view a page in the browser shows what every gear does, as it happens, and
marks what is yours. The page stays until Ctrl-C.

With --all and without NN, outside of a lab's folder, it runs the whole runtime
with your pages of all labs that have passed.`,
		Example: `  # delete 50 namespaces with your work queue
  lab run 08

  # the same, and then look at the gears and use kubectl
  lab run 08 --keep

  # the same with your pages of all labs that have passed
  lab run 08 --all

  # watch your reflector at work, gear by gear
  lab run 05 --scene

  # the whole controller with your page in the browser, and the code that acts
  lab run 05 --view

  # your work queue beside the fast one
  lab run 08 --bench

  # keep the controller that consists of your pages
  lab run --all --build bin/orrery-mine`,
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.check(command); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			s, err := open(command)
			if err != nil {
				return err
			}
			chosen, err := s.choose(args, o.all)
			if err != nil {
				return err
			}
			if !o.view || o.scene { // the page shows how far a page that is not written gets
				if err := s.written(chosen.labs); err != nil {
					return err
				}
			}
			return s.run(command.Context(), chosen, o)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&o.all, "all", false, "use your pages of all other labs that have passed as well")
	flags.BoolVar(&o.keep, "keep", false, "keep server and controller running after the script")
	flags.BoolVar(&o.scene, "scene", false, `play the lab's scene of "lab demo" with your page, gear by gear`)
	flags.BoolVar(&o.bench, "bench", false, "measure your page beside the fast form")
	flags.StringVar(&o.build, "build", "", "only build the program with your page, into this `file`")
	flags.BoolVar(&o.view, "view", false,
		"show every gear of the controller in the browser, live, until Ctrl-C; your page may still be a stub")
	o.page.AddTo(flags)
	program.CompleteFiles(command, "build")
	return command
}

// check reports flags that exclude each other, or that are invalid.
func (o *runOptions) check(command *cobra.Command) error {
	mode := ""
	for _, name := range []string{"keep", "scene", "bench", "build"} {
		if !command.Flags().Changed(name) {
			continue
		}
		if mode != "" {
			return errors.New("--" + mode + " and --" + name + " exclude each other")
		}
		mode = name
	}
	if o.view && (mode == "bench" || mode == "build") {
		return errors.New("--view and --" + mode + " exclude each other")
	}
	for _, name := range []string{"view-port", "no-open"} {
		if command.Flags().Changed(name) && !o.view {
			return errors.New("--" + name + " needs --view")
		}
	}
	return o.page.Check()
}

// run does what the flags ask for.
func (s *session) run(ctx context.Context, chosen *choice, o *runOptions) error {
	ctx, release := program.UntilSignal(ctx, func() {
		os.Exit(program.ExitInterrupted)
	})
	defer release()
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	program.OutlivePipes() // otherwise "| head" would end lab at once, and leave its controller
	if program.Width(s.OutOrStdout()) == 0 {
		s.SetOut(program.NewLostReader(s.OutOrStdout(), func() { lost(errLostReader) }))
	}
	dir, err := os.MkdirTemp("", "orrery-lab-")
	if err != nil {
		return usage(err)
	}
	defer os.RemoveAll(dir)
	for _, lab := range chosen.labs {
		passes, err := s.passes(lab)
		if err != nil {
			return err
		}
		if !passes && lab.IsCode() {
			s.print("run-not-passed", lab.ID)
		}
	}
	switch {
	case o.scene:
		err = s.runScene(ctx, chosen, dir, o)
	case o.bench:
		err = s.runBench(ctx, chosen, dir)
	case o.build != "":
		if _, err = s.build(ctx, chosen, chosen.run.Package(), dir, o.build); err == nil {
			s.print("run-built", o.build)
		}
	default:
		err = s.runScript(ctx, chosen, dir, o)
	}
	switch {
	case ctx.Err() != nil && err == nil && !o.view:
		return program.Stopped(ctx)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return s.stopped(ctx)
	}
	return err
}

// errLostReader is the cause of a run that ends because nothing reads what it prints.
var errLostReader = errors.New("the reader of the output is gone")

// stopped returns the error of a command that a signal, or the end of its reader, ended before
// there was a result.
func (s *session) stopped(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errLostReader) {
		return program.Exit(exitUsage)
	}
	if interrupted := program.Stopped(ctx); interrupted != nil {
		return interrupted
	}
	return s.refuse("ended-early")
}

// executable is the name of a program for a while. Any name works on other systems than Windows.
const executable = "program.exe"

// build builds a program of the repository with the chosen pages. What does not compile is printed.
func (s *session) build(ctx context.Context, chosen *choice, pkg, dir, binary string) (*course.Overlay, error) {
	folders := map[*course.Lab]string{}
	for _, lab := range chosen.labs {
		folders[lab] = s.folder.Of(lab)
	}
	lay, err := course.NewOverlay(s.folder.Repository, s.here, folders)
	if err != nil {
		return nil, usage(err)
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return nil, usage(err)
	}
	target := course.Build{Repository: s.folder.Repository, Package: pkg, Overlay: filepath.Join(dir, "overlay.json"),
		Version: chosen.version()}
	if err := lay.Write(target.Overlay); err != nil {
		return nil, usage(err)
	}
	if chosen.inProgram() {
		s.print("run-builds")
	} else {
		s.print("run-builds-without")
	}
	output, ok, err := target.Program(ctx, binary)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, s.refuse("no-go", err)
	case !ok:
		r := &check.Report{}
		r.Build, r.NoModule = check.Compiler(output, lay)
		r.PrintBuild(s.OutOrStdout(), s.lang)
		return nil, program.Exit(exitFailed)
	}
	return lay, nil
}

// runScript plays the script on the API server in memory.
func (s *session) runScript(ctx context.Context, chosen *choice, dir string, o *runOptions) error {
	if o.keep && chosen.run.Program != "" {
		return s.refuse("run-not-kept", chosen.lab.ID)
	}
	binary := filepath.Join(dir, executable)
	lay, err := s.build(ctx, chosen, chosen.run.Package(), dir, binary)
	if err != nil {
		return err
	}
	config := play.Config{Run: chosen.run, Program: binary, Log: chosen.log, Out: s.OutOrStdout(), Lang: s.lang}
	if config.Verdicts = lay.Pages[causes.VerdictFile]; config.Verdicts != "" {
		if config.Passed, err = s.passes(chosen.lab); err != nil {
			return err
		}
	}
	if o.keep {
		config.Keep = func(ctx context.Context, kubeconfig, gears string) {
			s.print("run-kept", serve.ShellQuoted(kubeconfig), gears)
			<-ctx.Done()
		}
	}
	return s.watched(ctx, chosen, lay, o, config)
}

// showOutcome says how the run ended.
func (s *session) showOutcome(chosen *choice, lay *course.Overlay, outcome play.Outcome) error {
	switch {
	case outcome.OK && chosen.inProgram():
		s.print("run-ok")
		return nil
	case outcome.OK:
		s.print("run-ok-without")
		return nil
	case outcome.Crashed:
		s.print("run-crashed")
		failure := check.Explain(course.Result{Output: outcome.Output}, lay)
		if failure.Kind == check.Ended { // it has said why
			fmt.Fprintf(s.OutOrStdout(), "    %s\n", lastLine(outcome.Output))
			break
		}
		failure.Print(s.OutOrStdout(), s.lang, nil)
	}
	if frames := check.LoggedPanic(outcome.Output, lay); len(frames) > 0 && !outcome.Crashed {
		s.print("run-panicked")
		check.PrintFrames(s.OutOrStdout(), frames)
	}
	if chosen.lab == nil {
		s.print("run-all-failed", s.show(chosen.log))
	} else {
		s.print("run-failed", chosen.lab.ID, s.show(chosen.log))
	}
	return program.Exit(exitFailed)
}
