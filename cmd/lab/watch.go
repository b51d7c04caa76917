package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
)

func newWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [NN]",
		Short: "Test your page whenever you save it, until Ctrl-C",
		Long: `Tests the page whenever you save it, without the race detector, so that the
answer comes quickly. Ctrl-C ends it.`,
		Example: `  # in a terminal beside your editor
  lab watch 08`,
		RunE: onStarted(func(s *session, lab *course.Lab) error {
			ctx, release := program.UntilSignal(s.Context(), func() { os.Exit(program.ExitInterrupted) })
			defer release()
			return s.watch(ctx, lab)
		}),
	}
}

// poll is the pause between two looks at the files.
const poll = 200 * time.Millisecond

// watch tests the lab after each change of its files.
func (s *session) watch(ctx context.Context, lab *course.Lab) error {
	tested := ""
	for {
		if hash, err := s.hash(lab); err == nil && hash != tested {
			tested = hash
			s.quickTest(ctx, lab)
		}
		select {
		case <-ctx.Done():
			return program.Stopped(ctx)
		case <-time.After(poll):
		}
	}
}

// quickTest tests without the race detector and go vet.
func (s *session) quickTest(ctx context.Context, lab *course.Lab) {
	r, err := check.Run(ctx, check.Options{
		Repository: s.folder.Repository, Lab: lab, Folder: s.folder.Of(lab), From: s.here, Quick: true,
	})
	fmt.Fprint(s.OutOrStdout(), "\x1b[2J\x1b[H")
	if err != nil {
		fmt.Fprintln(s.OutOrStdout(), err)
		return
	}
	passed := r.Passed
	r.Passed, r.Race = false, true // "lab test" has the last word
	r.Print(s.OutOrStdout(), s.lang)
	if err := s.update(lab, func(p *course.LabProgress) { p.Fail(check.FailureOf(r)) }); err != nil {
		fmt.Fprintln(s.OutOrStdout(), err)
	}
	if passed {
		s.print("watch-passed", lab.ID)
	}
}
