package benchcmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/syncbench"
	"orrery/internal/program"
)

var syncBench = benchmark{
	name:  "sync",
	short: "The first sync: 100,000 pods over HTTP into the cache",
	long: `Starts an HTTP server in a process of its own, which has so many pods, and an
informer that lists them, as a controller does when it starts. What the server
costs is not counted.

Shows how long it takes until the cache is filled and the handler has been told,
processor time, the peak of resident memory, and the live heap afterwards. The
cache is compared with what the server has. There is no latency, because there
is one event: the list.`,
	examples: `  # 100,000 pods as metadata, in JSON
  lab bench sync

  # JSON and protobuf side by side
  lab bench sync --format all

  # in pages of 500, as from a server without a watch cache
  lab bench sync --page-size 500

  # as a streaming list
  lab bench sync --streaming`,
	sweeps: `  # is the memory proportional to the number of objects?
  lab bench sweep sync --vary objects=1k..64k --format all \
    --plot objects.svg --figure "peak memory"

  # and to their size?
  lab bench sweep sync --vary object-size=4KiB..64KiB --objects 10k`,
	workload: func() workload { return &syncWorkload{} },
}

// syncWorkload are the flags of "lab bench sync".
type syncWorkload struct {
	objects   numberFlag
	size      numberFlag
	format    program.Choice
	pageSize  numberFlag
	typed     bool
	streaming bool
	seed      uint64
}

func (w *syncWorkload) addTo(flags *pflag.FlagSet) {
	countVar(flags, &w.objects, "objects", 100_000, 1, "how many pods the server has")
	sizeVar(flags, &w.size, "object-size", "the size of a pod in JSON; 0: what a pod usually has, about 2.4 kB")
	program.ChoicesVar(flags, &w.format, "format", "format", []syncbench.Format{syncbench.JSON, syncbench.Protobuf}, "how the server encodes its answers")
	countVar(flags, &w.pageSize, "page-size", 0, 0, "pods in a page of the list; 0: all in one")
	flags.BoolVar(&w.typed, "typed", false, "ask for whole pods, not only for their metadata")
	flags.BoolVar(&w.streaming, "streaming", false, "let the client use a streaming list (sendInitialEvents)")
	flags.Uint64Var(&w.seed, "seed", 1, "seed of the pods; the same seed makes the same pods")
}

func (w *syncWorkload) config(format string) syncbench.Config {
	return syncbench.Config{
		Objects: w.objects.int(), ObjectSize: w.size.int(), Format: syncbench.Format(format), PageSize: w.pageSize.int(),
		Typed: w.typed, Streaming: w.streaming, Seed: w.seed,
	}
}

func (w *syncWorkload) check() error {
	switch {
	case w.seed == 0:
		return fmt.Errorf("--seed must not be 0")
	case w.typed && slices.Contains(w.format.Chosen, string(syncbench.Protobuf)):
		return fmt.Errorf("--typed pods are read as JSON only: leave it out, or use --format json")
	}
	for _, format := range w.format.Chosen {
		if err := w.config(format).Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (w *syncWorkload) runs() []job {
	var runs []job
	for _, format := range w.format.Chosen {
		run := job{do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
			return syncbench.Run(ctx, syncbench.Orrery(), w.config(format), meter)
		}}
		if len(w.format.Chosen) > 1 {
			run.design = format
		}
		runs = append(runs, run)
	}
	return runs
}
