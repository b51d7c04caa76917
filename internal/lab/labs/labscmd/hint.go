package labscmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/hints"
	"orrery/internal/lab/labs/manifest"
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
		Args:              atMostOne,
		ValidArgsFunction: completeLab,
		RunE: onStarted(func(s *session, lab *manifest.Lab) error {
			progress, err := s.progress(lab)
			if err != nil {
				return err
			}
			if !progress.Passed.IsZero() {
				s.print("hint-passed", lab.ID)
				return nil
			}
			hint := hints.Next(lab, progress)
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
