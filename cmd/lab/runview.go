package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orrery"
	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/demo"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
)

// watched plays a script and shows its outcome. With --view it serves the page of the controller's
// gears, from its first event until a signal.
func (s *session) watched(ctx context.Context, chosen *choice, lay *course.Overlay, o *runOptions,
	config course.PlayConfig) error {
	if !o.view {
		outcome, err := course.Play(ctx, config)
		if err != nil {
			return usage(err)
		}
		return s.showOutcome(chosen, lay, outcome)
	}
	pages, err := written(lay)
	if err != nil {
		return usage(err)
	}
	relay := trace.NewRelay(trace.Header{
		Run: "lab run", Mode: "lab", Gears: chosen.run.GearSet(), Build: program.Version,
		Yours: slices.Sorted(maps.Keys(pages)),
	})
	page := o.page
	server, err := web.StartView(web.ViewConfig{Port: page.Port, Source: relay,
		Code: web.Code{Files: orrery.Source, Yours: pages}})
	if err != nil {
		return err
	}
	defer server.Stop()
	config.Trace, config.Begun = relay, func() { page.Announce(server, s.OutOrStdout()) }
	outcome, err := course.Play(ctx, config)
	relay.End(lastWords(outcome, lay))
	if err != nil {
		return usage(err)
	}
	err = s.showOutcome(chosen, lay, outcome)
	if ctx.Err() == nil {
		s.print("run-view-stays", server.URL())
		<-ctx.Done()
	}
	return err
}

// written returns the pages with which the program was built.
func written(lay *course.Overlay) (map[string]web.YourPage, error) {
	pages := map[string]web.YourPage{}
	for name, file := range lay.Pages {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		pages[name] = web.YourPage{File: lay.Show(name), Text: text}
	}
	return pages, nil
}

// lastWords returns the panic that ended the controller, or the first that it caught, and where in
// the learner's pages it was; "" if there was none.
func lastWords(outcome course.Outcome, lay *course.Overlay) string {
	frames, text := check.LoggedPanic(outcome.Output, lay), ""
	for line := range strings.Lines(outcome.Output) {
		if outcome.Crashed && strings.HasPrefix(line, "panic: ") {
			text, _, _ = strings.Cut(strings.TrimSpace(line), " [recovered")
			break
		}
	}
	if len(frames) == 0 || outcome.OK {
		return text
	}
	return fmt.Sprintf("%s (%s  %s)", cmp.Or(text, frames[0].Source), frames[0].Place, frames[0].Function)
}

// ending returns the Cancel of a command on the same terminal, which Ctrl-C reaches, too. The command
// has two seconds to end.
func ending(ctx context.Context, command *exec.Cmd) func() error {
	return func() error {
		if program.Stopped(ctx) != nil { // the terminal has sent Ctrl-C to both, but kill and editors have not
			time.AfterFunc(2*time.Second, func() { _ = command.Process.Signal(syscall.SIGTERM) }) // an error: it has ended
			return nil
		}
		return command.Process.Signal(syscall.SIGTERM)
	}
}

// runScene plays the lab's scene with the learner's pages: "lab demo" of a laboratory that is built
// with them. It has the terminal, and Ctrl-C reaches it as it reaches this process.
func (s *session) runScene(ctx context.Context, chosen *choice, dir string, o *runOptions) error {
	scene := chosen.run.Scene
	if chosen.lab == nil {
		scene = demo.Default
	}
	if _, err := demo.Named(scene); err != nil {
		return s.refuse("run-no-scene", chosen.lab.ID)
	}
	binary := filepath.Join(dir, executable)
	lay, err := s.build(ctx, chosen, "cmd/lab", dir, binary)
	if err != nil {
		return err
	}
	arguments := []string{"demo", "--scene", scene, "--lang", string(s.lang), "--gears", chosen.run.GearSet()}
	if o.view {
		arguments = append(arguments, "--view", "--view-port", strconv.Itoa(o.page.Port),
			"--no-open="+strconv.FormatBool(o.page.NoOpen))
		for name := range lay.Pages {
			arguments = append(arguments, "--yours", name+"="+lay.Show(name))
		}
	}
	demo := exec.CommandContext(ctx, binary, arguments...)
	demo.Stdin, demo.Stdout, demo.Stderr = s.InOrStdin(), program.Underlying(s.OutOrStdout()), s.ErrOrStderr()
	demo.Cancel = ending(ctx, demo)
	err = demo.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return program.Exit(failed.ExitCode())
	}
	return usage(err)
}
