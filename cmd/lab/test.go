package main

import (
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
			shown := s.showReport(lab, r)
			if err := s.record(lab, r, tested); err != nil {
				return err
			}
			return shown
		}),
	}
}

// test tests a lab.
func (s *session) test(ctx context.Context, lab *course.Lab) (*check.Report, error) {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	toolchain, err := course.LookUpToolchain(ctx, s.folder.Repository)
	if ctx.Err() != nil {
		return nil, s.stopped(ctx)
	}
	if err != nil {
		return nil, s.refuse("no-go", err)
	}
	onTerminal := program.Width(s.ErrOrStderr()) > 0
	if onTerminal {
		fmt.Fprint(s.ErrOrStderr(), s.say("testing"))
	}
	r, err := check.Run(ctx, check.Options{
		Repository: s.folder.Repository, Lab: lab, Folder: s.folder.Of(lab), From: s.here, Race: toolchain.Race,
	})
	if onTerminal {
		fmt.Fprint(s.ErrOrStderr(), "\r\x1b[K")
	}
	if ctx.Err() != nil {
		return nil, s.stopped(ctx)
	}
	if err != nil {
		return nil, usage(err)
	}
	return r, nil
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

// showReport prints a report, after a success what was built, and returns the exit code as an
// error.
func (s *session) showReport(lab *course.Lab, r *check.Report) error {
	r.Print(s.OutOrStdout(), s.lang)
	if !r.Passed {
		return program.Exit(exitFailed)
	}
	fmt.Fprintf(s.OutOrStdout(), "\n%s\n", s.paragraph(lab.Built))
	return nil
}
