package labscmd

import (
	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/verify"
	"orrery/internal/program"
)

func newVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NN]",
		Short: "Check the labs themselves, for authors",
		Long: `Checks all labs, or one: the reference passes; the stub builds and fails where
it should; every function is needed; the tests reject every planted wrong
solution where the manifest says, and its hint fires; the script of "lab run"
ends with its outcome. Without NN it also builds every program with the stubs,
and runs the whole runtime. It prints the seconds of each check.`,
		Example: `  # after a change of lab 08
  lab verify 08`,
		Args:              atMostOne,
		ValidArgsFunction: completeLab,
		RunE: func(command *cobra.Command, args []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			var labs []*manifest.Lab
			if len(args) > 0 {
				lab, err := s.lab(args)
				if err != nil {
					return err
				}
				labs = []*manifest.Lab{lab}
			}
			ok, err := verify.Run(command.Context(), s.folder.Repository, labs, command.OutOrStdout())
			if err != nil {
				return usage(err)
			}
			if !ok {
				return program.Exit(exitFailed)
			}
			return nil
		},
	}
}
