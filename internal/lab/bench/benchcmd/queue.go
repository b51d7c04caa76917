package benchcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/queuebench"
	"orrery/internal/program"
)

var queueBench = benchmark{
	name:  "queue",
	short: "The work queue: Add, Get, Done, between producers and workers",
	long: `Producers add keys to a work queue, workers take them out, spend --handler-cost
on each and give them back. A key that is added while it waits is merged with
itself; one that is added while it is worked on comes back afterwards.

Shows keys processed per second, what each cost, the peak of memory, and how
long a key took from when it was due to be added until a worker was done with
it.`,
	examples: `  # two producers, two workers, ten thousand keys
  lab bench queue

  # more of everything, and a handler that works for 2 us
  lab bench queue --producers 4 --workers 8 --keys 1M --handler-cost 2us

  # one key gets 90 % of all events: how much is merged?
  lab bench queue --distribution hot

  # latency at a certain load, with a picture of the percentiles
  lab bench queue --rate 100k --plot queue.svg

  # what do metrics cost?
  lab bench queue --metrics -o json`,
	sweeps: `  # does the queue get slower with more workers?
  lab bench sweep queue --vary workers=1..64 --plot workers.svg --rounds 3

  # one worker, 20 us a key: how does the 99th percentile grow with the load?
  lab bench sweep queue --vary rate=5k..80k --workers 1 --handler-cost 20us \
    --plot load.svg`,
	workload: func() workload { return &queueWorkload{} },
}

// queueWorkload are the flags of "lab bench queue".
type queueWorkload struct {
	design             program.Choice
	producers, workers numberFlag
	keys               numberFlag
	cost               handlerCost
	metrics            bool
	load               loadFlags
}

func (w *queueWorkload) subjects() subjects[queuebench.Subject] { return queuebench.Subjects() }

func (w *queueWorkload) addTo(flags *pflag.FlagSet) {
	if subjects := w.subjects(); len(subjects) > 1 {
		subjects.designVar(flags, &w.design, "the queues to measure")
	} else {
		w.design.Chosen = subjects.names()
	}
	countVar(flags, &w.producers, "producers", 2, 1, "goroutines that add keys")
	countVar(flags, &w.workers, "workers", 2, 1, "goroutines that take keys out")
	countVar(flags, &w.keys, "keys", 10_000, 1, "how many different keys there are")
	w.cost.addTo(flags)
	flags.BoolVar(&w.metrics, "metrics", false, "switch the metrics of the queue on")
	w.load.addTo(flags, 2*time.Second, "keys")
}

func (w *queueWorkload) config() queuebench.Config {
	return queuebench.Config{
		Producers: w.producers.int(), Workers: w.workers.int(), Keys: w.keys.int(), HandlerCost: time.Duration(w.cost),
		Metrics: w.metrics, Distribution: w.load.chosen(), Duration: w.load.duration, Rate: w.load.rate.value, Seed: w.load.seed,
	}
}

func (w *queueWorkload) check() error {
	if err := w.load.check(); err != nil {
		return err
	}
	if err := w.cost.check(); err != nil {
		return err
	}
	return w.config().Validate()
}

// note warns of a long wait: a phase ends when all that was added has been worked off, and that may be every key once.
func (w *queueWorkload) note() string {
	backlog := time.Duration(w.cost) * time.Duration(w.keys.int()) / time.Duration(w.workers.int())
	if backlog < 10*time.Second || backlog < 4*w.load.duration {
		return ""
	}
	return fmt.Sprintf("a phase ends when all keys have been worked off: %v of work may be left by then; fewer --keys or more --workers make it less", backlog.Round(time.Second))
}

func (w *queueWorkload) runs() []job {
	return runsOf(w.subjects().chosen(w.design), func(subject queuebench.Subject) job {
		return job{do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
			return queuebench.Run(ctx, subject, w.config(), meter)
		}}
	})
}
