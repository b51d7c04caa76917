package course

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course/check"
	"orrery/internal/lab/course/manifest"
	"orrery/internal/lab/course/report"
	"orrery/internal/lab/course/steps"
	"orrery/internal/lab/course/work"
)

func newTestCommand() *cobra.Command {
	var format outputFormat
	var busy bool
	command := &cobra.Command{
		Use:   "test [NN]",
		Short: "Test your page with the contract suite of the gear",
		Long: `Builds the gear's own contract suite with your page in place of the reference,
and runs it step by step, with the race detector and go vet. It stops at the
first step that fails: your next task. Other labs and the rest of the
repository do not matter.

The exit code is 0 if everything passed, 1 if something failed, and 2 if the
lab could not be tested.`,
		Example: `  # test your work queue
  lab test 08

  # for an editor or a script
  lab test 08 -o json`,
		Args:              atMostOne,
		ValidArgsFunction: completeLab,
		RunE: onStarted(func(s *session, lab *manifest.Lab) error {
			factor := 1
			if busy {
				factor = busyFactor
			}
			r, err := s.test(s.Context(), lab, factor)
			if err != nil {
				return err
			}
			return s.showReport(r, format)
		}),
	}
	command.Flags().BoolVar(&busy, "busy", false, fmt.Sprintf("allow each step %d times as long, on a busy machine", busyFactor))
	format.addTo(command)
	return command
}

// busyFactor multiplies the time limits of steps on a busy machine.
const busyFactor = 20

// test tests a lab and records the result. limitFactor multiplies the time limits of steps.
func (s *session) test(ctx context.Context, lab *manifest.Lab, limitFactor int) (*report.Report, error) {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	toolchain, err := steps.Look(ctx, s.folder.Repository)
	if err != nil {
		return nil, s.refuse("no-go", err)
	}
	onTerminal := columns(s.ErrOrStderr()) > 0
	if onTerminal {
		fmt.Fprint(s.ErrOrStderr(), s.lang.Say("testing"))
	}
	r, err := check.Run(ctx, check.Options{
		Repository: s.folder.Repository, Lab: lab, Folder: s.folder.Of(lab), From: s.here, Race: toolchain.Race, LimitFactor: limitFactor,
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
	return r, s.record(lab, r)
}

// record writes the result into the progress.
func (s *session) record(lab *manifest.Lab, r *report.Report) error {
	hash, err := s.hash(lab)
	if err != nil {
		return usage(err)
	}
	return s.update(lab, func(p *work.LabProgress) {
		p.Tests++
		p.Fail(check.Failed(r))
		p.Passed = time.Time{}
		if r.Passed {
			p.Passed, p.Solved = time.Now().UTC().Truncate(time.Second), true
		}
		p.Steps = map[string]string{}
		for _, step := range r.Steps {
			if step.State == report.Passed {
				p.Steps[step.Name] = hash
			}
		}
	})
}

// recordFailure writes the failure that lab hint is about.
func (s *session) recordFailure(lab *manifest.Lab, failed *work.FailedTest) error {
	return s.update(lab, func(p *work.LabProgress) { p.Fail(failed) })
}

// passes reports whether all steps of a lab have passed with the learner's pages as they are now.
func (s *session) passes(lab *manifest.Lab) (bool, error) {
	progress, err := s.progress(lab)
	if err != nil || progress.Passed.IsZero() {
		return false, err
	}
	hash, err := s.hash(lab)
	if err != nil {
		return false, usage(err)
	}
	return !slices.ContainsFunc(lab.Tests.Steps, func(step manifest.Step) bool { return progress.Steps[step.Name] != hash }), nil
}

// hash returns the hash of the learner's pages.
func (s *session) hash(lab *manifest.Lab) (string, error) {
	sum := sha256.New()
	for _, page := range lab.Files {
		text, err := os.ReadFile(s.folder.Page(lab, page.Path))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", page.Path, len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// showReport prints a report and returns the exit code as an error.
func (s *session) showReport(r *report.Report, format outputFormat) error {
	if format == jsonOutput {
		if err := writeJSON(s.OutOrStdout(), r); err != nil {
			return err
		}
	} else {
		r.Print(s.OutOrStdout(), s.lang)
	}
	if !r.Passed {
		return program.Exit(exitFailed)
	}
	return nil
}

// outputFormat is the value of -o.
type outputFormat string

const (
	textOutput outputFormat = "text"
	jsonOutput outputFormat = "json"
)

func (f *outputFormat) addTo(command *cobra.Command) {
	program.WordVar(command.Flags(), f, "output", "o", "format", []outputFormat{textOutput, jsonOutput}, "how to print the result")
	program.CompleteChoices(command)
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
