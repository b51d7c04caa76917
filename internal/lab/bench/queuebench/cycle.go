package queuebench

import (
	"cmp"
	"context"
	"fmt"

	"orrery/internal/lab/bench"
)

// Cycle is a key's way through an empty queue in one goroutine: Add, Get, Done, two million times
// with the keys of ten thousand objects in turn. There is no waiting and no contention, so the
// figure is the queue's own work per key. Proven: every Get returns the key just added. Both sides
// have the same loop, the same keys, and a queue that has processed all keys once before the
// measurement.
func Cycle(ctx context.Context, subject Subject, effort bench.Effort) (bench.Outcome, error) {
	return cycle(ctx, subject, effort, nil)
}

// CycleMetrics is Cycle with the queue's metrics enabled, as in every controller. The queue reads
// clocks and reports to counters and histograms that only count their calls, with one atomic
// addition; both sides use the same ones. Both sides update the gauges of unfinished work every
// half second. client-go also updates the depth gauge with every Add and Get; this project's queue
// does so every half second. Proven: each key was also reported three times, as added, with its
// queue duration, and with its work duration.
func CycleMetrics(ctx context.Context, subject Subject, effort bench.Effort) (bench.Outcome, error) {
	return cycle(ctx, subject, effort, new(Sinks))
}

func cycle(ctx context.Context, subject Subject, effort bench.Effort, sinks *Sinks) (bench.Outcome, error) {
	n := effort.Of(2_000_000, 400_000)
	keys := bench.NewKeys(10_000, bench.Uniform, 1).All()
	q := subject.New(Options{Sinks: sinks})
	g := watch(ctx, q)
	defer g.Close()

	right := cycles(q, keys, 1, g) // warm-up
	usage := bench.Measure(func() { right += cycles(q, keys, n/len(keys), g) })

	err := cmp.Or(
		ctx.Err(),
		bench.Prove("keys that came out in FIFO order", n+len(keys), right),
		bench.Prove("keys left", 0, q.Len()),
	)
	proof := fmt.Sprintf("%d keys came out in FIFO order", n)
	if sinks != nil && err == nil {
		proof += ", each with its add, wait and work metrics"
		err = cmp.Or(
			bench.Prove("keys reported as added", n+len(keys), sinks.Adds.Calls()),
			bench.Prove("waits reported", n+len(keys), sinks.Waits.Calls()),
			bench.Prove("works reported", n+len(keys), sinks.Works.Calls()),
		)
	}
	return bench.Outcome{Figures: perOp(usage, n), Proof: proof}, err
}

// cycles sends all keys through the queue, rounds times, and returns how many came out correctly.
func cycles(q Queue, keys []string, rounds int, g *guard) (right int) {
	for range rounds {
		for _, key := range keys {
			q.Add(key)
			got, shutdown := q.Get()
			if shutdown {
				return right
			}
			if got == key {
				right++
			}
			q.Done(got)
		}
		g.Moved()
	}
	return right
}
