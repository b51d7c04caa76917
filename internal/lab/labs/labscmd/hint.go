package labscmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/hints"
)

func newHintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hint [NN]",
		Short: "Get a hint, one more at each call",
		Long: `Prints a hint for the failure of the last "lab test", if the lab has one. Each
further call prints one of three general hints: a question about what must hold,
the structure or the call that helps, and pseudo-code for the hard half.
None of them contains the answer.`,
		Example: `  # what is wrong with my work queue?
  lab hint 08`,
		Args:              atMostOne,
		ValidArgsFunction: completeLab,
		RunE: func(command *cobra.Command, args []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			lab, err := s.started(args)
			if err != nil {
				return err
			}
			progress, err := s.progress(lab)
			if err != nil {
				return err
			}
			hint := hints.Next(lab, progress)
			if hint.Rung == 0 {
				s.print("hint-state", hint.Test)
			} else {
				s.print("hint-rung", hint.Rung, len(lab.Hints.Rungs))
			}
			fmt.Fprintln(command.OutOrStdout(), hint.Paragraph(s.lang))
			if hint.Repeated {
				s.print("no-more-hints", lab.ID)
			}
			return s.update(lab, hint.Shown)
		},
	}
}
