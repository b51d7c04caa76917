// Package replaycmd has the command "lab replay", which reads a recording of the gears.
package replaycmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"orrery/internal/observe/trace"
	"orrery/internal/program"
)

// New returns the command replay.
func New() *cobra.Command {
	var check bool
	command := &cobra.Command{
		Use:   "replay FILE --check",
		Short: "Verify a recording of the gears",
		Long: `Reads a recording of "lab demo --record FILE" or "orrery run --record FILE".
FILE.1 has the part before the last rotation; each opens by itself.

--check verifies every line: the sequence has no gaps, times do not go back,
causes are earlier events, and each recorded state is that of the events before
it. It prints a summary. A last line that is cut off is normal after a crash.

Exit codes: 0 if the recording is sound, 1 if not.`,
		Example: `  # verify what lab demo --record run.jsonl.gz has written
  lab replay run.jsonl.gz --check`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if !check {
				return program.UsageError{Command: command.CommandPath(), Err: errors.New("--check is missing")}
			}
			return verify(args[0], command.OutOrStdout())
		},
	}
	command.Flags().BoolVar(&check, "check", false, "verify the recording and print a summary")
	return command
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
	for _, gear := range slices.Sorted(maps.Keys(r.State.Events)) {
		fmt.Fprintf(out, "  %-16s %8d\n", gear, r.State.Events[gear])
	}
	for _, gear := range slices.Sorted(maps.Keys(r.State.Lost)) {
		fmt.Fprintf(out, "  lost of %s: %d\n", gear, r.State.Lost[gear])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Unknown)) {
		fmt.Fprintf(out, "  unknown event %s: %d\n", name, r.Unknown[name])
	}
	fmt.Fprintf(out, "contradictions %d\n", r.State.Odd)
	if r.Cut {
		fmt.Fprintln(out, "the last line is cut off: the process was killed while it wrote")
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(out, problem)
	}
	if more := r.Found - len(r.Problems); more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
}
