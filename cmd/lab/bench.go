package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/workloads"
)

// newBenchCommand returns the commands "lab bench", one for each benchmark. A benchmark is a name,
// help texts, and a workload: flags that become jobs, one for each design and each value of a
// varied flag. A run of the jobs takes turns, in rounds, and writes the results as a table, JSON
// or lines for benchstat. All flags are checked before anything is measured. A job whose proof
// fails, or that is interrupted, ends the command without figures.
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
  lab bench queue --vary workers=1,4,16,64`,
	}
	for _, b := range benchmarks {
		command.AddCommand(newBenchmarkCommand(b))
	}
	return command
}

func newBenchmarkCommand(b benchmark) *cobra.Command {
	workload, options := b.workload(), &outputFlags{}
	command := &cobra.Command{
		Use:     b.name,
		Short:   b.short,
		Long:    b.long,
		Example: b.examples,
		Args:    program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			run := &benchRun{options: options, stdout: command.OutOrStdout(), stderr: command.ErrOrStderr()}
			jobs := workload.jobs()
			if options.vary != "" {
				var err error
				if run.varied, jobs, err = b.sweep(options.vary, command.Flags()); err != nil {
					return program.UsageError{Command: command.CommandPath(), Err: err}
				}
			}
			return run.run(command.Context(), jobs)
		},
	}
	workload.addTo(command.Flags())
	options.addTo(command.Flags())
	program.CompleteChoices(command)
	return command
}

// outputFlags are the flags that all benchmarks share.
type outputFlags struct {
	vary, output string
	rounds       int
	quiet        bool
}

// The output formats.
const (
	outputTable    = "table"
	outputJSON     = "json"
	outputBenchfmt = "benchfmt"
)

func (o *outputFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.vary, "vary", "", "run once for each value of one flag: `flag=1,2,4`")
	program.WordVar(flags, &o.output, "output", "o", "output format",
		[]string{outputTable, outputJSON, outputBenchfmt}, "form of the results; benchfmt is for benchstat")
	bench.NumberVar(flags, &o.rounds, "rounds", 3, 1, 1000,
		"number of rounds; tables show medians and the spread, the other formats every round")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
}

// benchmark is a benchmark: its help texts and its workload.
type benchmark struct {
	name, short, long, examples string
	workload                    func() workload
}

// benchmarks lists the benchmarks in the order in which an event passes the gears.
var benchmarks = []benchmark{{
	name:  "queue",
	short: "The work queue: Add, Get, Done, between producers and workers",
	long: `Producers add keys to a work queue. Workers take them out, spend --handler-cost
on each and give them back. A key that is added while it waits is not queued
twice. A key that is added while a worker holds it comes back afterwards.

Shows keys processed per second, the cost of each, and the time from when a key
was due to be added until a worker was done with it.`,
	examples: `  # one key gets 90 % of all events: how much is merged?
  lab bench queue --distribution hot

  # does the queue get slower with more workers?
  lab bench queue --vary workers=1,4,16,64

  # one worker, 20 us a key: how does the 99th percentile grow with the load?
  lab bench queue --vary rate=5k,10k,20k,40k --workers 1 --handler-cost 20us`,
	workload: func() workload {
		return newWork("queue", "the queues to measure",
			workloads.QueueSubjects(), &workloads.QueueConfig{}, workloads.RunQueue)
	},
}, {
	name:  "dispatch",
	short: "From watch to handlers: three designs behind one interface",
	long: `A fake watch hands out events, and everything between it and the handlers is
real: the reflector, the DeltaFIFO, the store, and the part that brings one
event to many handlers. That part has several designs; docs/measure/bench.md
says when each is right.

Shows events per second, the cost of each, and the time from when an event was
due until it was delivered to a handler.`,
	examples: `  # all designs side by side, sixteen handlers
  lab bench dispatch --design all --handlers 16

  # handlers that take 5 us each: which design falls behind?
  lab bench dispatch --design all --handler-cost 5us --rate 150k`,
	workload: func() workload {
		return newWork("dispatch", "how events get from the store to the handlers",
			workloads.DispatchSubjects(), &workloads.DispatchConfig{}, workloads.RunDispatch)
	},
}, {
	name:  "fifo",
	short: "The DeltaFIFO: Add and Pop at the same time",
	long: `A producer adds events. A consumer pops all events of one object at a time, as
in an informer. The producer waits when the backlog reaches --backlog, because a
queue that only grows would measure memory.

Shows events per second, the cost of each, the number of pops, and the time from
when an event was due until it was popped.`,
	examples: `  # one object changes all the time: many events in one turn
  lab bench fifo --distribution hot --keys 10k

  # what does a deeper backlog cost?
  lab bench fifo --vary backlog=16,1k,16k --design all`,
	workload: func() workload {
		return newWork("fifo", "the queues to measure",
			workloads.FIFOs(), &workloads.FIFOConfig{}, workloads.Run[workloads.FIFOConfig])
	},
}, {
	name:  "store",
	short: "The indexer: writes while others read",
	long: `One goroutine writes objects into a store with an index by namespace, as an
informer does, while other goroutines read it in a loop: whole lists, lists of a
namespace, or single objects.

Shows writes and reads per second, their cost, and the time from when a write
was due until it was done.`,
	examples: `  # four readers list 100,000 objects again and again: does the writer keep up?
  lab bench store --design all

  # does a write cost more when there are more objects?
  lab bench store --vary objects=1k,32k,1M --readers 0`,
	workload: func() workload {
		return newWork("store", "the stores to measure",
			workloads.Stores(), &workloads.StoreConfig{}, workloads.Run[workloads.StoreConfig])
	},
}, {
	name:  "sync",
	short: "The first sync: 100,000 pods over HTTP into the cache",
	long: `Starts an HTTP server with --objects pods in another process, and an informer
that lists them, as a controller does when it starts. The cost of the server is
not counted.

Shows the time until the cache and the handler have every pod, processor time,
peak resident memory, and the live heap afterwards. There is no latency, because
there is only one event: the list.`,
	examples: `  # is the memory proportional to the number of objects?
  lab bench sync --vary objects=1k,8k,64k --design all`,
	workload: func() workload {
		return newWork("sync", "the gears to measure",
			workloads.SyncSubjects(), &workloads.SyncConfig{}, workloads.RunSync)
	},
}}
