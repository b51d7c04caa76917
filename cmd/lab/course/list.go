package course

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course/manifest"
	"orrery/internal/lab/course/work"
)

// row is a lab in the list.
type row struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Article string `json:"article"`
	// State is open, started, passed, or changed: it passed before the page was changed.
	State string `json:"state"`
	// Steps are the steps that passed, of Of.
	Steps int `json:"steps"`
	Of    int `json:"of"`
	// Minutes is how long the rest takes a learner who works alone.
	Minutes int `json:"minutes"`
}

func newListCommand() *cobra.Command {
	var format outputFormat
	command := &cobra.Command{
		Use:   "list",
		Short: "List the labs with your progress",
		Long: `Lists the labs with their state, the minutes that are left for a learner who
works alone, and the article that each belongs to. The labs can be done in any
order.

"changed" is a lab that had passed before you changed your page, with the steps
that pass now.`,
		Example: `  # which labs are there?
  lab list`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := open(command)
			if err != nil {
				return err
			}
			progress, bad, err := s.folder.Progress()
			if s.bad(bad); err != nil {
				return usage(err)
			}
			rows := []row{}
			for _, lab := range s.labs {
				rows = append(rows, s.row(lab, progress[lab.ID]))
			}
			if format == jsonOutput {
				return writeJSON(command.OutOrStdout(), rows)
			}
			for _, r := range rows {
				state := s.lang.Say("state-" + r.State)
				if r.State == "started" || r.State == "changed" {
					state = fmt.Sprintf("%s %d/%d", state, r.Steps, r.Of)
				}
				minutes := s.lang.Say("minutes", r.Minutes)
				if r.Minutes == 0 {
					minutes = s.lang.Say("minutes-none")
				}
				fmt.Fprintf(command.OutOrStdout(), "%s  %-12s %s  %s  [%s]\n", r.ID, state, minutes, r.Title, r.Article)
			}
			return nil
		},
	}
	format.addTo(command)
	return command
}

// row returns the row of a lab. progress may be nil.
func (s *session) row(lab *manifest.Lab, progress *work.LabProgress) row {
	r := row{ID: lab.ID, Title: lab.Title.In(s.lang), Article: lab.Article, State: "open", Of: len(lab.Tests.Steps), Minutes: lab.Minutes.Self}
	if progress == nil || !s.folder.Started(lab) {
		return r
	}
	r.State = "started"
	for name := range progress.Steps {
		if slices.ContainsFunc(lab.Tests.Steps, func(step manifest.Step) bool { return step.Name == name }) {
			r.Steps++
		}
	}
	r.Minutes = lab.Minutes.Self * (r.Of - r.Steps) / r.Of
	switch {
	case !progress.Passed.IsZero():
		r.State, r.Steps, r.Minutes = "passed", r.Of, 0
	case progress.Solved:
		r.State, r.Minutes = "changed", 0
	}
	return r
}
