package main

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"time"

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
			slices.SortStableFunc(labs, func(a, b *course.Lab) int {
				return cmp.Compare(cmp.Or(a.First, math.MaxInt), cmp.Or(b.First, math.MaxInt))
			})
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

func newStartCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "start [NN]",
		Short: "Begin a lab: get a page of the runtime with the bodies taken out",
		Long: `Writes the lab's page into workshop/work, with stubs for the functions that you
will write, and the rest of its package to read. An editor with gopls
understands the folder, because it is a Go module. A lab that you have started
is left as it is: "lab reset" begins it again.

On a terminal it first asks the lab's questions that you have not answered, as
"lab quiz" does: predict what the gear does before you write it.`,
		Example: `  # rebuild the work queue
  lab start 08`,
		RunE: onLab(func(s *session, lab *course.Lab) error {
			if s.folder.Started(lab) {
				return s.refuse("start-under-way", lab.ID, s.show(s.folder.Page(lab, lab.Files[0].Path)))
			}
			if err := s.askFirst(lab); err != nil {
				return err
			}
			return s.start(lab)
		}),
	}
}

func newResetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reset [NN]",
		Short: "Begin a lab again, and keep a backup of what you wrote",
		Long: `Puts the stub back. What you wrote is kept beside the lab's folder, with the
ending .bak-1 and so on.`,
		Example: `  # begin the work queue again
  lab reset 08`,
		RunE: onLab(func(s *session, lab *course.Lab) error {
			if !s.folder.Started(lab) {
				return s.refuse("not-started", lab.ID)
			}
			return s.start(lab)
		}),
	}
}

// start writes the stub and says where it is.
func (s *session) start(lab *course.Lab) error {
	backup, err := s.folder.Start(lab)
	if err != nil {
		return usage(err)
	}
	err = s.update(lab, func(p *course.LabProgress) {
		*p = course.LabProgress{Started: time.Now().UTC().Truncate(time.Second), Answers: p.Answers}
	})
	if err != nil {
		return err
	}
	if backup != "" {
		s.print("kept", s.show(backup))
	}
	for _, page := range lab.Files {
		switch file := s.show(s.folder.Page(lab, page.Path)); {
		case path.Ext(page.Path) == ".yaml":
			s.print("started-parts", file, len(page.Write))
		case len(page.Write) == 1:
			s.print("started-one", file)
		default:
			s.print("started", file, len(page.Write))
		}
	}
	s.print("task", s.show(lab.Readme(s.lang)), lab.ID)
	return nil
}
