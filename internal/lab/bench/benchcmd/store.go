package benchcmd

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/storebench"
	"orrery/internal/program"
)

var storeBench = benchmark{
	name:  "store",
	short: "The indexer: writes while others read",
	long: `One goroutine writes objects into a store with an index by namespace, as an
informer does, while others read it in a loop: whole lists, lists of a
namespace, or single objects.

Shows writes and reads per second, what they cost, the peak of memory, and how
long a write took from when it was due. Afterwards the store and its index are
compared with what was written.`,
	examples: `  # four readers list 100,000 objects again and again: can anybody write?
  lab bench store

  # this project's store beside a map under one lock
  lab bench store --design all

  # nobody reads
  lab bench store --readers 0

  # readers that look up one object
  lab bench store --reader get`,
	sweeps: `  # what does a further reader do to the writer?
  lab bench sweep store --vary readers=0,1,2,4,8 --design all \
    --plot readers.svg

  # does a write cost more when there are more objects?
  lab bench sweep store --vary objects=1k..1M --readers 0`,
	workload: func() workload { return &storeWorkload{} },
}

// storeWorkload are the flags of "lab bench store".
type storeWorkload struct {
	design     program.Choice
	objects    numberFlag
	namespaces numberFlag
	readers    numberFlag
	reader     program.Choice
	size       numberFlag
	load       loadFlags
}

func (w *storeWorkload) subjects() subjects[storebench.Subject] { return storebench.Subjects() }

func (w *storeWorkload) addTo(flags *pflag.FlagSet) {
	w.subjects().designVar(flags, &w.design, "the stores to measure")
	countVar(flags, &w.objects, "objects", 100_000, 1, "how many objects are in the store")
	countVar(flags, &w.namespaces, "namespaces", 0, 0, "how many namespaces they are in; 0: 100, or one for each object if there are fewer")
	countVar(flags, &w.readers, "readers", 4, 0, "goroutines that read in a loop")
	program.ChoiceVar(flags, &w.reader, "reader", "", "kind of reader", storebench.ReaderKinds(), "what they do")
	sizeVar(flags, &w.size, "object-size", "payload that an object carries besides its head")
	w.load.addTo(flags, 5*time.Second, "objects")
}

func (w *storeWorkload) config() storebench.Config {
	readers := w.readers.int()
	if readers == 0 {
		readers = -1 // 0 is the default there
	}
	return storebench.Config{
		Objects: w.objects.int(), Namespaces: w.namespaces.int(), Readers: readers, Reader: storebench.ReaderKind(w.reader.String()),
		ObjectSize: w.size.int(), Distribution: w.load.chosen(), Duration: w.load.duration, Rate: w.load.rate.value, Seed: w.load.seed,
	}
}

func (w *storeWorkload) check() error {
	if err := w.load.check(); err != nil {
		return err
	}
	return w.config().Validate()
}

func (w *storeWorkload) runs() []job {
	return runsOf(w.subjects().chosen(w.design), func(subject storebench.Subject) job {
		return job{do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
			return storebench.Run(ctx, subject, w.config(), meter)
		}}
	})
}
