package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
)

func newHintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hint [NN]",
		Short: "Get a hint, one more at each call",
		Long: `Prints a hint for the failure of the last "lab test", if the lab has one. Each
further call prints one of three general hints: a question about what must hold,
the structure or the call that helps, and pseudo-code for the hard half.
None of them contains the answer.

If a function is still to write, or the page did not compile, hung or had a data
race, the first call says what to look at, and uses none of the three.`,
		Example: `  # what is wrong with my work queue?
  lab hint 08`,
		RunE: onStarted(func(s *session, lab *course.Lab) error {
			progress, err := s.progress(lab)
			if err != nil {
				return err
			}
			if !progress.Passed.IsZero() {
				s.print("hint-passed", lab.ID)
				return nil
			}
			hint := check.Next(lab, progress)
			switch {
			case hint.Trouble != "":
				s.print("hint-"+string(hint.Trouble), lab.ID)
				s.print("hint-unused", hint.Rung)
			case hint.Rung == 0:
				s.print("hint-state", hint.Test)
			default:
				if hint.General {
					s.print("hint-general")
				}
				s.print("hint-rung", hint.Rung, len(lab.Hints.Rungs))
			}
			if hint.Complete() {
				fmt.Fprintln(s.OutOrStdout(), s.paragraph(hint.Text))
			}
			if hint.Repeated {
				s.print("no-more-hints", lab.ID)
			}
			return s.update(lab, hint.Shown)
		}),
	}
}

func newDiffCommand() *cobra.Command {
	giveUp := false
	command := &cobra.Command{
		Use:   "diff [NN]",
		Short: "Compare your page with the reference, after your tests pass",
		Long: `Prints the difference between the reference and your page. Before your tests
have passed it needs --give-up, because it shows the solution. Once they have
passed it stays open, also for a page that you change again, until "lab reset".`,
		Example: `  # how does the reference do it?
  lab diff 08

  # show me the solution
  lab diff 08 --give-up`,
		RunE: onStarted(func(s *session, lab *course.Lab) error {
			progress, err := s.progress(lab)
			if err != nil {
				return err
			}
			if !progress.Solved && progress.Passed.IsZero() && !giveUp {
				return s.refuse("diff-too-early", lab.ID)
			}
			return s.diff(lab)
		}),
	}
	command.Flags().BoolVar(&giveUp, "give-up", false, "show the reference although the tests have not passed")
	return command
}

// diff prints the difference for each page.
func (s *session) diff(lab *course.Lab) error {
	same := true
	for _, page := range lab.Files {
		yours := s.folder.Page(lab, page.Path)
		text, err := os.ReadFile(yours)
		if err != nil {
			return usage(err)
		}
		base, err := os.ReadFile(s.folder.Base(lab, page.Path))
		if err != nil {
			return usage(err)
		}
		diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(string(base)), FromFile: page.Path,
			B: difflib.SplitLines(string(text)), ToFile: s.show(yours), Context: 3,
		})
		if err != nil {
			return err
		}
		same = same && strings.TrimSpace(diff) == ""
		fmt.Fprint(s.OutOrStdout(), diff)
	}
	if same {
		s.print("diff-same")
	}
	return nil
}
