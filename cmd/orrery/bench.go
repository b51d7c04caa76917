package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newBenchCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure the gears: queue, dispatch, FIFO, store, first sync",
		Long: `Measures one gear at a time, on nothing but this machine.

A run has two phases. In the first the gear gets as much as it takes: that is its
throughput, what it allocates, and its memory. In the second events come at a steady rate,
half of that unless --rate says otherwise: that is its latency. It counts from when an
event was due, not from when a late producer got round to it, so that a pause is felt by
every event that it made late (no "coordinated omission").

Each run proves that the work was done: every key processed, every event arrived, the
cache equal to the server. If not there are no figures but an error.

Results go to the standard output, progress to the standard error. docs/bench.md says what
each benchmark shows and has exercises; "make bench" compares with client-go.`,
		Example: `  # how fast is the work queue, and how long does a key wait in it?
  orrery bench queue

  # four ways to bring one event to sixteen handlers, with a picture
  orrery bench dispatch --design all --handlers 16 --plot dispatch.svg

  # how does the queue scale with the number of workers?
  orrery bench sweep queue --vary workers=1..64 --plot workers.svg`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	for _, kind := range benchKinds {
		command.AddCommand(newBenchKindCommand(kind))
	}
	command.AddCommand(newBenchSweepCommand())
	return command
}

// benchKinds are the benchmarks, in the order of the gears that an article about controllers explains.
var benchKinds = []benchKind{queueBench, dispatchBench, fifoBench, storeBench, syncBench}

func newBenchKindCommand(kind benchKind) *cobra.Command {
	workload, options := kind.workload(), &benchOptions{}
	command := &cobra.Command{
		Use:     kind.name,
		Short:   kind.short,
		Long:    kind.long,
		Example: kind.examples,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			err := workload.check()
			if err == nil {
				err = options.check()
			}
			if err != nil {
				return usageError{command: command.CommandPath(), err: err}
			}
			session := newBenchSession(command, options)
			if noter, ok := workload.(benchNoter); ok {
				session.say(noter.note())
			}
			return session.run(workload.runs())
		},
	}
	workload.addTo(command.Flags())
	options.addTo(command.Flags())
	completeChoices(command)
	command.Flags().SortFlags = false
	return command
}

func newBenchSweepCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "sweep",
		Short: "Run a benchmark for several values of one flag, and plot the curve",
		Long: `Runs a benchmark once for each value of one flag, one after the other, and shows a row for
each. With --plot it draws one curve for each design.

The values are a list, 1,2,4,8, or a range, 1..64, which doubles: 1, 2, 4, 8, 16, 32, 64.`,
		Example: sweepExamples(),
		Args:    noArguments,
		RunE:    func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	for _, kind := range benchKinds {
		command.AddCommand(newBenchSweepKindCommand(kind))
	}
	return command
}

// sweepExamples are the first examples of each benchmark.
func sweepExamples() string {
	var examples []string
	for _, kind := range benchKinds {
		first, _, _ := strings.Cut(kind.sweeps, "\n\n")
		examples = append(examples, first)
	}
	return strings.Join(examples, "\n\n")
}

func newBenchSweepKindCommand(kind benchKind) *cobra.Command {
	workload, options, sweep := kind.workload(), &benchOptions{}, &benchSweep{kind: kind}
	command := &cobra.Command{
		Use:     kind.name,
		Short:   "Sweep: " + strings.ToLower(kind.short[:1]) + kind.short[1:],
		Long:    fmt.Sprintf("Runs \"orrery bench %s\" once for each value of one flag. See its help for what it measures.", kind.name),
		Example: kind.sweeps,
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			err := workload.check()
			if err == nil {
				err = options.check()
			}
			if err == nil {
				err = sweep.prepare(command.Flags())
			}
			if err != nil {
				return usageError{command: command.CommandPath(), err: err}
			}
			session := newBenchSession(command, options)
			session.varied = sweep.flag
			return session.run(sweep.runs)
		},
	}
	command.Flags().SortFlags = false // in the order in which they are added, in help and in messages
	sweep.addTo(command.Flags())
	workload.addTo(command.Flags())
	sweep.own = flagNames(command.Flags())
	options.addTo(command.Flags())
	completeChoices(command)
	_ = command.RegisterFlagCompletionFunc("vary", sweep.complete) // it fails only for a flag that does not exist
	return command
}
