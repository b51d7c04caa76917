package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"orrery"
	"orrery/internal/app/program"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
)

// newReplayCommand returns "lab replay": a recording in the page of package web, served until
// Ctrl-C or written as one file.
func newReplayCommand() *cobra.Command {
	var page web.Flags
	html := ""
	command := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show a recording in the browser: seek, step back, follow one key",
		Long: `Shows a recording of a run in the browser. The page plays it at any speed, seeks
to any event, steps back, and tells the story of one key. Nothing runs, and
nothing leaves this machine: the page is served on the loopback interface until
Ctrl-C.

With --html, the page and the recording become one file, which a browser opens
without a server or a network.`,
		Example: `  # look again at what lab demo --record one-key.jsonl has written
  lab replay one-key.jsonl

  # one file for a reader without this program
  lab replay one-key.jsonl --html one-key.html`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return program.UsageError{Command: command.CommandPath(),
					Err: errors.New("give the file of a recording")}
			}
			return program.AtMostOneArgument(command, args)
		},
		RunE: func(command *cobra.Command, args []string) error {
			if err := page.Check(true); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			header, err := readHeader(args[0])
			if err != nil {
				return err
			}
			if html != "" {
				return writeHTML(args[0], html, header.Gears, command.OutOrStdout())
			}
			return replay(command.Context(), args[0], page, command.OutOrStdout())
		},
	}
	page.AddTo(command.Flags())
	command.Flags().StringVar(&html, "html", "", "write the page with the recording to this `file` and end")
	program.CompleteFiles(command, "html")
	return command
}

// readHeader returns the first line of a file, or an error if that is no recording that this
// program can read. Mistakes after its first line are for the page to show.
func readHeader(file string) (header trace.Header, err error) {
	from, err := os.Open(file)
	if err != nil {
		return header, err
	}
	defer from.Close()
	enough := errors.New("the first line was read")
	begin := func(first trace.Header) error {
		header = first
		return enough
	}
	if err := trace.Read(from, begin, nil); !errors.Is(err, enough) {
		return header, fmt.Errorf("%s: %w", file, err)
	}
	return header, nil
}

// replay serves the page until a signal.
func replay(ctx context.Context, file string, flags web.Flags, out io.Writer) error {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	server, err := flags.Start(web.ViewConfig{
		Code:      source,
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

// source is where the page finds the functions of the gears.
var source = web.Code{Files: orrery.Source}

// writeHTML writes the page and the recording to one file, with the functions of its gears. A
// recording of gears that this program does not have goes without.
func writeHTML(from, to, gears string, out io.Writer) error {
	code, _ := source.Find(gears)
	recording, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if before, err := os.Stat(from); err == nil {
		if after, err := os.Stat(to); err == nil && os.SameFile(before, after) {
			return fmt.Errorf("--html %s is the recording itself", to)
		}
	}
	file, err := trace.Create(to)
	if err != nil {
		return err
	}
	_, err = file.Write(web.HTML(recording, code))
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s has the page and the recording; open it in a browser.\n", to)
	return nil
}
