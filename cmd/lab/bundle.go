package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/course"
	"orrery/internal/lab/course/check"
)

func newBundleCommand() *cobra.Command {
	var archives []string
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Make the offline kit for a room without network, for teachers",
		Long: `Writes orrery-kit-VERSION.tar.gz here: the repository as it is in git's index,
the modules it needs, and archives of Go given with --go. It works on Linux,
macOS and Windows, because everything but Go is source code. On a laptop, unpack
it and follow START.md. It takes a minute.`,
		Example: `  # a kit for laptops that have Go
  lab bundle

  # a kit with Go for two kinds of laptops
  lab bundle --go go1.26.0.linux-amd64.tar.gz --go go1.26.0.darwin-arm64.pkg`,
		RunE: opened(func(s *session, _ []string) error {
			return s.bundle(s.Context(), archives)
		}),
	}
	command.Flags().StringArrayVar(&archives, "go", nil, "an `archive` of Go from https://go.dev/dl; may be repeated")
	program.CompleteFiles(command, "go")
	return command
}

// bundle writes the kit and says what is in it.
func (s *session) bundle(ctx context.Context, archives []string) error {
	file := "orrery-kit-" + program.Version + ".tar.gz"
	ctx, release := program.UntilSignal(ctx, func() {
		_ = os.Remove(file + ".part") // an error means that there is none
		os.Exit(program.ExitInterrupted)
	})
	defer release()
	err := course.WriteKit(ctx, course.Kit{
		Repository: s.folder.Repository, Archives: archives, File: file, Version: program.Version,
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return s.stopped(ctx)
	case errors.Is(err, course.ErrNoClone):
		return s.refuse("bundle-no-clone", s.show(s.folder.Repository))
	case err != nil:
		return usage(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return usage(err)
	}
	s.print("bundle-written", file, float64(info.Size())/1e6)
	if len(archives) == 0 {
		s.print("bundle-without-go")
	}
	s.print("bundle-next", file)
	return nil
}

func newVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NN]",
		Short: "Check the labs themselves, for authors",
		Long: `Checks all labs, or one: the reference passes; the stub builds and fails where
it should; the tests reject every planted wrong solution where the manifest
says, and its hint fires; the script of "lab run" ends with its outcome. It
prints the seconds of each check.`,
		Example: `  # after a change of lab 08
  lab verify 08`,
		RunE: opened(func(s *session, args []string) error {
			labs, err := s.oneOrAll(args)
			if err != nil {
				return err
			}
			ok, err := check.Verify(s.Context(), s.folder.Repository, labs, s.OutOrStdout())
			if err != nil || ok {
				return usage(err)
			}
			return program.Exit(exitFailed)
		}),
	}
}
