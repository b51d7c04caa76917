package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/program"
)

// newBenchCommand returns the commands "lab bench", one for each benchmark. A benchmark is a name,
// help texts, and a workload: flags that become jobs, one for each design and each value of a
// varied flag. A run of the jobs takes turns, in rounds, and writes the results as a table, JSON,
// lines for benchstat or a picture. All flags are checked before anything is measured. A job whose
// proof fails, or that is interrupted, ends the command without figures.
func newBenchCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure the gears: queue, dispatch, FIFO, store, first sync",
		Long: `Measures one gear at a time, on nothing but this machine.

A run has two phases. In the first, the gear gets as much work as it can take:
this measures throughput, allocations and memory. In the second, events come at
a steady rate: this measures latency. All designs get the same rate: --rate, or
half of what the slowest sustained when they were tried, before the rounds.
Latency counts from the time when an event was due, not from when a late
producer made it, so that a pause counts for every event that it delays (no
"coordinated omission").

Each run proves that the work was done: every key was processed, every event
arrived, and the cache equals the server. If the proof fails, the run prints an
error instead of figures.

Tables have medians and, in parentheses, the spread of the rounds. Results go to
standard output, progress to standard error.
docs/measure/bench.md explains each benchmark and has exercises; "make bench"
compares with client-go.`,
		Example: `  # how fast is the work queue, and how long does a key wait in it?
  lab bench queue

  # three ways to bring one event to sixteen handlers, with a picture
  lab bench dispatch --design all --handlers 16 --plot dispatch.svg

  # how does the queue scale with the number of workers?
  lab bench queue --vary workers=1..64 --plot workers.svg`,
	}
	for _, b := range benchmarks {
		command.AddCommand(newBenchmarkCommand(b))
	}
	return command
}

func newBenchmarkCommand(b benchmark) *cobra.Command {
	workload, options, sweep := b.workload(), &outputFlags{}, &sweepFlags{benchmark: b}
	command := &cobra.Command{
		Use:     b.name,
		Short:   b.short,
		Long:    b.long,
		Example: b.examples,
		Args:    program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			jobs := workload.jobs()
			err := options.check(sweep.vary != "")
			if err == nil && b.untimed && options.plot != "" && sweep.vary == "" {
				err = errors.New("--plot needs --vary: there are no latencies to draw")
			}
			if err == nil && sweep.vary != "" {
				jobs, err = sweep.jobs(command.Flags())
			}
			if err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			session := newBenchRun(command, options)
			session.varied = sweep.flag
			return session.run(jobs)
		},
	}
	workload.addTo(command.Flags())
	sweep.own = flagNames(command.Flags())
	sweep.addTo(command.Flags())
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	program.CompleteFiles(command, "plot")
	return command
}

// outputFlags are the output flags that all benchmarks share.
type outputFlags struct {
	output, plot, figure string
	rounds               int
	quiet                bool
}

// The output formats.
const (
	outputTable    = "table"
	outputJSON     = "json"
	outputBenchfmt = "benchfmt"
)

func (o *outputFlags) addTo(flags *pflag.FlagSet) {
	program.WordVar(flags, &o.output, "output", "o", "output format",
		[]string{outputTable, outputJSON, outputBenchfmt}, "form of the results; benchfmt is for benchstat")
	flags.StringVar(&o.plot, "plot", "",
		"also draw the results, as SVG, into this `file`: the latencies, or with --vary one figure")
	flags.StringVar(&o.figure, "figure", "", "figure to plot: the `name` of a figure in the table, "+
		"or p50, p90, p99, p99.9, max; default: the first")
	flags.IntVar(&o.rounds, "rounds", 3,
		"number of rounds; tables and plots show medians and the spread, the other formats every round")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
}

const mostRounds = 1000

func (o *outputFlags) check(varied bool) error {
	if extension := filepath.Ext(o.plot); o.plot != "" && extension != ".svg" {
		return fmt.Errorf("--plot writes SVG: name the file .svg, not %q", extension)
	}
	if _, err := os.Stat(filepath.Dir(o.plot)); err != nil {
		return plotError(err)
	}
	switch {
	case o.figure != "" && (o.plot == "" || !varied):
		return errors.New("--figure names the figure to plot: it needs --plot and --vary")
	case o.rounds < 1 || o.rounds > mostRounds:
		return fmt.Errorf("--rounds must be between 1 and %d, it is %d", mostRounds, o.rounds)
	}
	return nil
}

func plotError(err error) error {
	return fmt.Errorf("the plot cannot be written: %w; choose another place with --plot", err)
}
