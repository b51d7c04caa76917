package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
)

func newTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [NN]",
		Short: "Test your page with the contract suite of the gear",
		Long: `Builds the gear's own contract suite with your page in place of the reference,
and runs it step by step, with the race detector and go vet. It stops at the
first step that fails: your next task. Other labs and the rest of the
repository do not matter.

The exit code is 0 if everything passed, 1 if something failed, and 2 if the
lab could not be tested.`,
		Example: `  # test your work queue
  lab test 08`,
		RunE: onStarted(func(s *session, lab *course.Lab) error {
			tested, err := s.hash(lab) // the page may be saved again during the test
			if err != nil {
				return usage(err)
			}
			r, err := s.test(s.Context(), lab)
			if err != nil {
				return err
			}
			r.Print(s.OutOrStdout(), s.lang)
			if err := s.record(lab, r, tested); err != nil {
				return err
			}
			if !r.Passed {
				return program.Exit(exitFailed)
			}
			fmt.Fprintf(s.OutOrStdout(), "\n%s\n", s.paragraph(lab.Built))
			return nil
		}),
	}
}

// test tests a lab.
func (s *session) test(ctx context.Context, lab *course.Lab) (*check.Report, error) {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	toolchain, err := course.LookUpToolchain(ctx, s.folder.Repository)
	if err != nil {
		return nil, cmp.Or(s.stopped(ctx), s.refuse("no-go", err))
	}
	fmt.Fprintln(s.ErrOrStderr(), s.say("testing"))
	r, err := check.Run(ctx, check.Options{
		Repository: s.folder.Repository, Lab: lab, Folder: s.folder.Of(lab), From: s.here, Race: toolchain.Race,
	})
	return r, cmp.Or(s.stopped(ctx), usage(err))
}

// record writes the result for the pages with this hash into the progress.
func (s *session) record(lab *course.Lab, r *check.Report, hash string) error {
	return s.update(lab, func(p *course.LabProgress) {
		p.Fail(check.FailureOf(r))
		p.Passed = time.Time{}
		if r.Passed {
			p.Passed, p.Solved = time.Now().UTC().Truncate(time.Second), true
		}
		p.Steps = map[string]string{}
		for _, step := range r.Steps {
			if step.State == check.Passed {
				p.Steps[step.Name] = hash
			}
		}
	})
}

// passes reports whether all steps of a lab have passed with the learner's pages as they are now.
func (s *session) passes(lab *course.Lab) (bool, error) {
	progress, err := s.progress(lab)
	if err != nil {
		return false, err
	}
	return s.passesBy(lab, progress)
}

// passesBy is passes by the progress of the lab.
func (s *session) passesBy(lab *course.Lab, progress course.LabProgress) (bool, error) {
	if progress.Passed.IsZero() {
		return false, nil
	}
	hash, err := s.hash(lab)
	if err != nil {
		return false, usage(err)
	}
	return !slices.ContainsFunc(lab.Tests.Steps,
		func(step course.Step) bool { return progress.Steps[step.Name] != hash }), nil
}

// hash returns the hash of the learner's files that take part in the build.
func (s *session) hash(lab *course.Lab) (string, error) {
	overlay, err := course.NewOverlay(s.folder.Repository, s.here, map[*course.Lab]string{lab: s.folder.Of(lab)})
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(overlay.Pages)) {
		text, err := os.ReadFile(overlay.Pages[name])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

func newWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [NN]",
		Short: "Test your page whenever you save it, until Ctrl-C",
		Long: `Tests the page whenever you save it, without the race detector, so that the
answer comes quickly. Ctrl-C ends it.`,
		Example: `  # in a terminal beside your editor
  lab watch 08`,
		RunE: onStarted(func(s *session, lab *course.Lab) error {
			ctx, release := program.UntilSignal(s.Context(), func() { os.Exit(program.ExitInterrupted) })
			defer release()
			return s.watch(ctx, lab)
		}),
	}
}

// poll is the pause between two looks at the files.
const poll = 200 * time.Millisecond

// watch tests the lab after each change of its files.
func (s *session) watch(ctx context.Context, lab *course.Lab) error {
	tested := ""
	for {
		if hash, err := s.hash(lab); err == nil && hash != tested {
			tested = hash
			s.quickTest(ctx, lab)
		}
		select {
		case <-ctx.Done():
			return program.Stopped(ctx)
		case <-time.After(poll):
		}
	}
}

// quickTest tests without the race detector and go vet.
func (s *session) quickTest(ctx context.Context, lab *course.Lab) {
	r, err := check.Run(ctx, check.Options{
		Repository: s.folder.Repository, Lab: lab, Folder: s.folder.Of(lab), From: s.here, Quick: true,
	})
	fmt.Fprint(s.OutOrStdout(), "\x1b[2J\x1b[H")
	if err != nil {
		fmt.Fprintln(s.OutOrStdout(), err)
		return
	}
	passed := r.Passed
	r.Passed, r.Race = false, true // "lab test" has the last word
	r.Print(s.OutOrStdout(), s.lang)
	if err := s.update(lab, func(p *course.LabProgress) { p.Fail(check.FailureOf(r)) }); err != nil {
		fmt.Fprintln(s.OutOrStdout(), err)
	}
	if passed {
		s.print("watch-passed", lab.ID)
	}
}
