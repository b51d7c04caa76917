package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// newBenchCommand returns the commands "lab bench", one for each benchmark. A benchmark is a name,
// help texts, and a workload: flags that become jobs, one for each design and each value of a
// varied flag. A run of the jobs takes turns, in rounds, and writes the results as a table, JSON
// or lines for benchstat. All flags are checked before anything is measured. A job whose
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

  # three ways to bring one event to sixteen handlers
  lab bench dispatch --design all --handlers 16

  # how does the queue scale with the number of workers?
  lab bench queue --vary workers=1..64`,
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
			if sweep.vary != "" {
				var err error
				if jobs, err = sweep.jobs(command.Flags()); err != nil {
					return program.UsageError{Command: command.CommandPath(), Err: err}
				}
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
	program.CompleteFiles(command)
	return command
}

// outputFlags are the output flags that all benchmarks share.
type outputFlags struct {
	output string
	rounds int
	quiet  bool
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
	bench.NumberVar(flags, &o.rounds, "rounds", 3, 1, 1000,
		"number of rounds; tables show medians and the spread, the other formats every round")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
}
