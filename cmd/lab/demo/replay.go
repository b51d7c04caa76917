package demo

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
	"github.com/spf13/pflag"

	"orrery"
	"orrery/internal/app/program"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web/view"
)

// replayOptions are the flags of "lab replay".
type replayOptions struct {
	view  view.Flags
	html  string
	check bool
}

// NewReplay returns the command replay: a recording in the page of package
// internal/observe/web/view, served until Ctrl-C or written as one file.
func NewReplay() *cobra.Command {
	options := &replayOptions{}
	command := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show a recording in the browser: seek, step back, follow one key",
		Long: `Shows a recording of a run in the browser. The page plays it at any speed, seeks
to any event, steps back, and tells the story of one key with the cause of each
event. Nothing runs, and nothing leaves this machine: the page is served on
the loopback interface until Ctrl-C.

With --html, the page and the recording become one file, which a browser opens
without a server or a network.

--check only verifies the recording: the sequence has no gaps, times do not go
back, causes are earlier events, and each recorded state follows from the events
before it. It prints a summary. After a crash, the last line may be cut off.
Exit codes: 0 if the recording is sound, 1 if not.`,
		Example: `  # look again at what lab demo --record one-key.jsonl has written
  lab replay one-key.jsonl

  # one file for a reader without this program
  lab replay one-key.jsonl --html one-key.html`,
		Args: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return program.UsageError{Command: command.CommandPath(), Err: errors.New("give the file of a recording")}
			}
			return program.AtMostOneArgument(command, args)
		},
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.checkFlags(command.Flags()); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			header, err := readHeader(args[0])
			if err != nil {
				return err
			}
			if options.check {
				return verify(args[0], command.OutOrStdout())
			}
			if options.html != "" {
				return writeHTML(args[0], options.html, header.Gears, command.OutOrStdout())
			}
			return replay(command.Context(), args[0], options.view, command.OutOrStdout())
		},
	}
	options.view.AddTo(command.Flags())
	command.Flags().StringVar(&options.html, "html", "", "write the page with the recording to this `file` and end")
	command.Flags().BoolVar(&options.check, "check", false, "only verify the recording and print a summary")
	program.CompleteFiles(command, "html")
	return command
}

// checkFlags reports an invalid value, and flags that exclude each other.
func (o *replayOptions) checkFlags(flags *pflag.FlagSet) error {
	if flags.Changed("html") && flags.Changed("check") {
		return errors.New("--html and --check exclude each other")
	}
	return o.view.Check()
}

// readHeader returns the first line of a file, or an error if that is no recording that this
// program can read. Mistakes after its first line are for the page to show.
func readHeader(file string) (trace.Header, error) {
	from, err := os.Open(file)
	if err != nil {
		return trace.Header{}, err
	}
	defer from.Close()
	enough := errors.New("the first line was read")
	header, err := trace.Read(from, func(*trace.Event) error { return enough })
	if _, broken := errors.AsType[*trace.LineError](err); err != nil && !broken && !errors.Is(err, enough) {
		return header, fmt.Errorf("%s: %w", file, err)
	}
	return header, nil
}

// replay serves the page until a signal.
func replay(ctx context.Context, file string, flags view.Flags, out io.Writer) error {
	ctx, release := program.UntilSignal(ctx, func() { os.Exit(program.ExitInterrupted) })
	defer release()
	server, err := flags.Start(view.Config{
		Name:      filepath.Base(file),
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
var source = view.Code{Files: orrery.Source}

// writeHTML writes the page and the recording to one file, with the functions of its gears. A
// recording of gears that this program does not have goes without.
func writeHTML(from, to, gears string, out io.Writer) (err error) {
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
	defer func() {
		if failed := file.Close(); err == nil {
			err = failed
		}
	}()
	buffered := bufio.NewWriter(file)
	if err := view.WriteHTML(buffered, recording, code); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s has the page and the recording; open it in a browser.\n", to)
	return nil
}

// verify is "lab replay FILE --check".
func verify(name string, out io.Writer) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := trace.Check(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	printReport(out, report)
	if report.Found > 0 {
		return fmt.Errorf("%s has problems: %d", name, report.Found)
	}
	return nil
}

func printReport(out io.Writer, r *trace.Report) {
	fmt.Fprintf(out, "recorded %s, gears %s, %d events, %.1f s\n", r.Header.Start, r.Header.Gears, r.Events, float64(r.State.Time)/1e6)
	for _, gear := range slices.Sorted(maps.Keys(r.Gears)) {
		fmt.Fprintf(out, "  %-16s %8d\n", gear, r.Gears[gear])
	}
	for _, gear := range slices.Sorted(maps.Keys(r.State.Lost)) {
		fmt.Fprintf(out, "  lost of %s: %d\n", gear, r.State.Lost[gear])
	}
	fmt.Fprintf(out, "contradictions %d\n", r.State.Odd)
	switch {
	case r.Cut:
		fmt.Fprintln(out, "the last line is cut off: the process was killed while it wrote")
	case r.State.Ended == "":
		fmt.Fprintln(out, "no end: the process was killed, or the file was cut off")
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(out, problem)
	}
	if more := r.Found - len(r.Problems); more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
}
