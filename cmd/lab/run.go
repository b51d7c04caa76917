package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/causes"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
	"orrery/internal/observe/web"
)

// runOptions are the flags of "lab run".
type runOptions struct {
	all, scene, bench, keep bool
	build                   string
	view                    bool
	page                    web.Flags
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
			if err := o.check(command.Flags()); err != nil {
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
func (o *runOptions) check(flags *pflag.FlagSet) error {
	var modes []string
	for i, chosen := range []bool{o.keep, o.scene, o.bench, o.build != "", o.view && (o.bench || o.build != "")} {
		if chosen {
			modes = append(modes, []string{"--keep", "--scene", "--bench", "--build", "--view"}[i])
		}
	}
	if flags.Changed("build") && o.build == "" {
		return errors.New("--build needs the name of a file")
	}
	if len(modes) > 1 {
		return errors.New(strings.Join(modes, " and ") + " exclude each other")
	}
	return o.page.Check(o.view)
}

// run does what the flags ask for.
func (s *session) run(ctx context.Context, chosen *choice, o *runOptions) error {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	program.OutlivePipes() // otherwise "| head" would end lab at once, and leave its controller
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
		s.SetOut(program.NewLostReader(s.OutOrStdout(), stop))
		err = s.runScript(ctx, chosen, dir, o)
	}
	if err == nil && !o.view {
		return program.Stopped(ctx)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return s.stopped(ctx)
	}
	return err
}

// stopped returns the error of a command that a signal, or the loss of its reader, ended before
// there was a result; nil if nothing did.
func (s *session) stopped(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return cmp.Or(program.Stopped(ctx), s.refuse("ended-early"))
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
		Version: "lab"}
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
	switch own := chosen.run.Program != ""; {
	case own && o.keep:
		return s.refuse("run-not-kept", chosen.lab.ID)
	case own && o.view:
		return s.refuse("run-no-view", chosen.lab.ID)
	}
	binary := filepath.Join(dir, executable)
	lay, err := s.build(ctx, chosen, chosen.run.Package(), dir, binary)
	if err != nil {
		return err
	}
	config := course.PlayConfig{Run: chosen.run, Program: binary, Log: chosen.log, Out: s.OutOrStdout(), Lang: s.lang}
	if config.Verdicts = lay.Pages[causes.VerdictFile]; config.Verdicts != "" {
		if config.Passed, err = s.passes(chosen.lab); err != nil {
			return err
		}
	}
	if o.keep {
		config.Keep = func(kubeconfig, gears string) { s.print("run-kept", shellQuoted(kubeconfig), gears) }
	}
	return s.watched(ctx, chosen, lay, o, config)
}

// showOutcome says how the run ended.
func (s *session) showOutcome(chosen *choice, lay *course.Overlay, outcome course.Outcome) error {
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

// choice is what "lab run" runs: the script of a lab, or the whole runtime.
type choice struct {
	lab *course.Lab // nil: the whole runtime
	run course.Run
	// labs are those whose pages take part.
	labs []*course.Lab
	// log is the file for the controller's log.
	log string
}

// inProgram reports whether the pages are a part of the program.
func (c *choice) inProgram() bool { return c.lab == nil || c.lab.IsCode() }

// choose returns what the arguments ask for, and says which labs take part.
func (s *session) choose(args []string, all bool) (*choice, error) {
	c := &choice{run: course.WholeRun(), log: filepath.Join(s.folder.Dir, "run.log")}
	if len(args) > 0 || !all || s.around() != nil {
		lab, err := s.started(args)
		if err != nil {
			return nil, err
		}
		c.lab, c.run, c.labs, c.log = lab, lab.Run, []*course.Lab{lab}, filepath.Join(s.folder.Of(lab), "run.log")
	}
	if all {
		others, err := s.passed(c)
		if err != nil {
			return nil, err
		}
		if c.labs = append(c.labs, others...); len(others) == 0 && c.lab != nil {
			s.print("run-all-none")
		}
		for _, other := range others {
			s.print("run-with", other.ID, other.Title.In(s.lang))
		}
	}
	if len(c.labs) == 0 {
		return nil, s.refuse("run-none-passed")
	}
	return c, nil
}

// passed returns the other labs that have passed and whose pages the run uses.
func (s *session) passed(c *choice) (passed []*course.Lab, err error) {
	progress, err := s.folder.Progress()
	if err != nil {
		return nil, s.readable(err)
	}
	for _, other := range s.labs {
		p, known := progress[other.ID]
		switch {
		case other == c.lab || !known || !s.folder.Started(other) || !c.run.Uses(other):
		case p.Passed.IsZero():
			s.print("run-left-out", other.ID, other.Title.In(s.lang))
		default:
			passed = append(passed, other)
		}
	}
	return passed, nil
}

// written prints the functions that are still stubs. If there is one, the exit code is that of a
// failed test.
func (s *session) written(labs []*course.Lab) (err error) {
	for _, lab := range labs {
		if !lab.IsCode() {
			continue
		}
		if err := s.complete(lab); err != nil {
			return err
		}
		unwritten, failed := check.Stubs(check.Options{Repository: s.folder.Repository, Lab: lab,
			Folder: s.folder.Of(lab), From: s.here})
		if failed != nil {
			return usage(failed)
		}
		for _, f := range unwritten {
			s.print("still-to-write", fmt.Sprintf("%s (%s)", f.Function, f.Place))
			err = program.Exit(exitFailed)
		}
	}
	return err
}

// runBench measures the learner's page beside the fast form: "lab bench" of a laboratory that is
// built with the page.
func (s *session) runBench(ctx context.Context, chosen *choice, dir string) error {
	name := chosen.run.Bench
	if name == "" {
		var with []string
		for _, lab := range s.labs {
			if lab.Run.Bench != "" {
				with = append(with, lab.ID)
			}
		}
		return s.refuse("run-no-bench", strings.Join(with, ", "))
	}
	binary := filepath.Join(dir, executable)
	lay, err := s.build(ctx, chosen, "cmd/lab", dir, binary)
	if err != nil {
		return err
	}
	designs := benchForm(chosen.run) + ",fast"
	s.print("bench-yours", benchForm(chosen.run), name, designs)
	command := exec.CommandContext(ctx, binary, "bench", name, "--design", designs, "-q")
	var failed bytes.Buffer
	command.Stdout, command.Stderr = program.Underlying(s.OutOrStdout()), &failed
	command.Cancel = ending(ctx, command)
	if err = command.Run(); err != nil && ctx.Err() == nil {
		s.print("run-crashed")
		check.Explain(course.Result{Output: failed.String()}, lay).Print(s.OutOrStdout(), s.lang, nil)
		return program.Exit(exitFailed)
	}
	return ctx.Err()
}

// benchForm returns the design of the learner's page in "lab bench": the form that the gears name.
func benchForm(run course.Run) string {
	set := run.GearSet()
	return set[strings.Index(set, "=")+1:] // all of it if it names no gear
}
