package labscmd

import (
	"fmt"
	"os"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"

	"orrery/internal/lab/labs/manifest"
)

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
		Args:              atMostOne,
		ValidArgsFunction: completeLab,
		RunE: onStarted(func(s *session, lab *manifest.Lab) error {
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
func (s *session) diff(lab *manifest.Lab) error {
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
		fmt.Fprint(unbroken(s.OutOrStdout()), diff)
	}
	if same {
		s.print("diff-same")
	}
	return nil
}
