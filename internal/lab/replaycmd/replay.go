// Package replaycmd has the command "lab replay": a recording in the page of package
// internal/observe/view, served until Ctrl-C or written as one file.
package replaycmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orrery/internal/observe/view"
	"orrery/internal/program"
)

// replayOptions are the flags of "lab replay".
type replayOptions struct {
	view view.Flags
	html string
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
without a server and without a network.`,
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
			if options.html != "" {
				return writeHTML(args[0], options.html, command.OutOrStdout())
			}
			return replay(command.Context(), args[0], options.view, command.OutOrStdout())
		},
	}
	options.view.AddTo(command.Flags())
	command.Flags().StringVar(&options.html, "html", "", "write the page with the recording to this `file` and end")
	program.CompleteFiles(command, "html")
	return command
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
