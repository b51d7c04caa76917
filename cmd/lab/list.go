package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"orrery/internal/lab/course"
)

func newListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the labs with your progress",
		Long: `Lists the labs with their state, the minutes that are left for a learner who
works alone, and the article that each belongs to. The labs that matter first
come first; they can be done in any order.

"changed" is a lab that had passed before you changed your page, with the steps
that passed in its last test.`,
		Example: `  # which labs are there?
  lab list`,
		RunE: opened(func(s *session, _ []string) error {
			progress, err := s.folder.Progress()
			if err != nil {
				return s.readable(err)
			}
			s.print("list-head")
			labs := slices.Clone(s.labs)
			slices.SortStableFunc(labs, func(a, b *course.Lab) int { return cmp.Compare(place(a), place(b)) })
			for i, lab := range labs {
				if i > 0 && lab.First == 0 && labs[i-1].First > 0 {
					s.print("list-others")
				}
				s.list(lab, progress[lab.ID])
			}
			return nil
		}),
	}
}

// place returns the lab's place among those that matter first; the others come behind them.
func place(lab *course.Lab) int {
	if lab.First == 0 {
		return math.MaxInt
	}
	return lab.First
}

// list prints the line of a lab.
func (s *session) list(lab *course.Lab, progress course.LabProgress) {
	state, minutes, passed, of := "open", lab.Minutes, 0, len(lab.Tests.Steps)
	for _, step := range lab.Tests.Steps {
		if progress.Steps[step.Name] != "" {
			passed++
		}
	}
	passes, _ := s.passesBy(lab, progress) // a page that is gone was changed
	switch {
	case !s.folder.Started(lab):
	case passes:
		state, minutes = "passed", 0
	case progress.Solved:
		state, minutes = "changed", 0
	default:
		state, minutes = "started", lab.Minutes*(of-passed)/of
	}
	said := s.say("state-" + state)
	if state == "started" || state == "changed" {
		said = fmt.Sprintf("%s %d/%d", said, passed, of)
	}
	left := "–"
	if minutes > 0 {
		left = fmt.Sprint(minutes)
	}
	fmt.Fprintf(s.OutOrStdout(), "%s  %-12s %8s  %s  [%s]\n", lab.ID, said, left, lab.Title.In(s.lang), lab.Article)
}
