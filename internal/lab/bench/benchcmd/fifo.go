package benchcmd

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/fifobench"
	"orrery/internal/program"
)

var fifoBench = benchmark{
	name:  "fifo",
	short: "The DeltaFIFO: Add and Pop at the same time",
	long: `Producers add events, one consumer pops what happened to one object at a time,
as in an informer. Producers keep a bounded distance to the consumer
(--backlog), because a queue that only grows would measure memory.

Shows events per second, what each cost, how many turns the consumer took for
them, the peak of memory, and how long an event took from when it was due until
it was popped.`,
	examples: `  # one producer, as an informer has it
  lab bench fifo

  # every form of the queue side by side
  lab bench fifo --design all

  # one object changes all the time: many events in one turn
  lab bench fifo --distribution hot --keys 10k`,
	sweeps: `  # what does a deeper backlog cost?
  lab bench sweep fifo --vary backlog=16..16384 --plot backlog.svg

  # more producers than an informer has
  lab bench sweep fifo --vary producers=1..8 --design all`,
	workload: func() workload { return &fifoWorkload{} },
}

// fifoWorkload are the flags of "lab bench fifo".
type fifoWorkload struct {
	design    program.Choice
	producers numberFlag
	keys      numberFlag
	size      numberFlag
	backlog   numberFlag
	load      loadFlags
}

func (w *fifoWorkload) subjects() subjects[fifobench.Subject] { return fifobench.Subjects() }

func (w *fifoWorkload) addTo(flags *pflag.FlagSet) {
	w.subjects().designVar(flags, &w.design, "the queues to measure")
	countVar(flags, &w.producers, "producers", 1, 1, "goroutines that add events")
	countVar(flags, &w.keys, "keys", 100_000, 1, "how many objects there are")
	sizeVar(flags, &w.size, "object-size", "payload that an object carries besides its head")
	countVar(flags, &w.backlog, "backlog", 1000, 1, "how many events may wait before producers do")
	w.load.addTo(flags, 5*time.Second, "objects")
}

func (w *fifoWorkload) config() fifobench.Config {
	return fifobench.Config{
		Producers: w.producers.int(), Keys: w.keys.int(), ObjectSize: w.size.int(), Backlog: w.backlog.int(),
		Distribution: w.load.chosen(), Duration: w.load.duration, Rate: w.load.rate.value, Seed: w.load.seed,
	}
}

func (w *fifoWorkload) check() error {
	if err := w.load.check(); err != nil {
		return err
	}
	return w.config().Validate()
}

func (w *fifoWorkload) runs() []job {
	return runsOf(w.subjects().chosen(w.design), func(subject fifobench.Subject) job {
		return job{do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
			return fifobench.Run(ctx, subject, w.config(), meter)
		}}
	})
}
