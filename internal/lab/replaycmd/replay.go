// Package replaycmd has the command "lab replay": a recording in the page of package
// internal/observe/view, served until Ctrl-C or written as one file.
package replaycmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/view"
	"orrery/internal/program"
)

// replayOptions are the flags of "lab replay".
type replayOptions struct {
	view  view.Flags
	html  string
	check bool
}

// New returns the command replay.
func New() *cobra.Command {
	options := &replayOptions{}
	command := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show a recording in the browser: seek, step back, follow one key",
		Long: `Shows a recording of a run in the browser. The page plays it at any speed, goes
to any event, one event back, and tells the story of one key with the cause of
each event. Nothing runs, and nothing leaves this machine: the page is served on
the loopback interface until Ctrl-C.

With --html the page and the recording become one file, which opens in a browser
without a server and without a network. With --check the recording is only
verified: every line, the order of events and times, and every state in it.`,
		Example: `  # record a scene and look at it again
  lab demo --scene one-key --record one-key.jsonl
  lab replay one-key.jsonl

  # one file for somebody without this program
  lab replay one-key.jsonl --html one-key.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.view.Check(); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			if err := checkRecording(args[0]); err != nil {
				return err
			}
			if options.check {
				return check(args[0], command.OutOrStdout())
			}
			if options.html != "" {
				return writeHTML(args[0], options.html, command.OutOrStdout())
			}
			return replay(command.Context(), args[0], options.view, command.OutOrStdout())
		},
	}
	options.view.AddTo(command.Flags())
	command.Flags().StringVar(&options.html, "html", "", "write the page with the recording to this `file` and end")
	command.Flags().BoolVar(&options.check, "check", false, "only verify the recording; exit code 1 if it has mistakes")
	command.MarkFlagsMutuallyExclusive("html", "check")
	program.CompleteFiles(command, "html")
	return command
}

// checkRecording returns an error if the file is no recording that this program can read. Mistakes
// after its first line are for the page to show.
func checkRecording(file string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	enough := errors.New("the first line was read")
	if _, err = trace.Read(from, func(*trace.Event, *trace.LineError) error { return enough }); err != nil && !errors.Is(err, enough) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// check verifies a recording and prints what it found.
func check(file string, out io.Writer) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	report, err := trace.Check(from)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, problem := range report.Problems {
		fmt.Fprintln(out, problem)
	}
	if more := report.Found - len(report.Problems); more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
	for _, name := range slices.Sorted(maps.Keys(report.Unknown)) {
		fmt.Fprintf(out, "unknown event %s: %d times\n", name, report.Unknown[name])
	}
	if report.Cut {
		fmt.Fprintln(out, "the last line is cut off, which is normal after a crash")
	}
	fmt.Fprintf(out, "%d events, %d lost, %d contradictions\n", report.Events, sum(report.State.Lost), report.State.Odd)
	if report.Found > 0 {
		return fmt.Errorf("%s has %d mistakes", file, report.Found)
	}
	return nil
}

func sum(counts map[string]uint64) (total uint64) {
	for _, n := range counts {
		total += n
	}
	return total
}

// replay serves the page until a signal.
func replay(ctx context.Context, file string, flags view.Flags, out io.Writer) error {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	server, err := flags.Start(view.Config{
		Name:      filepath.Base(file),
		Recording: func() (io.ReadCloser, error) { return os.Open(file) },
	}, out)
	if err != nil {
		return err
	}
	defer server.Stop()
	fmt.Fprintln(out, "Ctrl-C ends it.")
	<-ctx.Done()
	return nil
}

// writeHTML writes the page and the recording to one file.
func writeHTML(from, to string, out io.Writer) (err error) {
	recording, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if failed := file.Close(); err == nil {
			err = failed
		}
	}()
	buffered := bufio.NewWriter(file)
	if err := view.WriteHTML(buffered, recording); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s has the page and the recording; open it in a browser.\n", to)
	return nil
}
