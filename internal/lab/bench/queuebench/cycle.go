package queuebench

import (
	"cmp"
	"context"
	"fmt"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Cycle is a key's way through an empty queue in one goroutine: Add, Get, Done, two million times with the keys of ten
// thousand objects in turn. Nothing waits and nobody competes, so the figure is the queue's own work for a key. Every
// Get is proven to return the key that was added just before. Equal on both sides: the loop, the keys, and a queue
// that has seen all of them once before the measurement starts.
//
// The limit: each of the three calls locks and unlocks a mutex, which is two atomic instructions that the processor cannot
// overlap with anything. On an AMD EPYC of 2024 these six take 28 ns, a quarter of client-go's whole cycle there
// (110 ns); a queue that did nothing but lock would not be at 0.25. In a profile of this project's queue the mutex is
// nearly half of the time; the hash has 4 ns, and some 15 go into making and forgetting the record of each key. The table, the
// ring and the list of held keys together are the rest.
func Cycle(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	return cycle(ctx, subject, effort, meter, nil)
}

// CycleMetrics is Cycle with the queue's metrics switched on, as they are in every controller. The queue reads clocks and
// reports to counters and histograms that do nothing but count their calls, by one atomic addition, and are the same ones
// on both sides. The gauges of work in hand are brought up to date every half a second on both sides; client-go also moves
// the gauge of its depth with every Add and Get, where this project's queue tells it every half a second. Beside the
// keys it is proven that each was reported three times: as added, with the time that it waited, and with the time that
// it was worked on.
//
// The limit: the three durations need three looks at the clock, at 23 ns each on a virtual machine, the three locks
// are 28 ns, three atomic additions 14. That is 0.3 of client-go's time before the queue has done anything.
func CycleMetrics(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	return cycle(ctx, subject, effort, meter, new(Sinks))
}

func cycle(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter, sinks *Sinks) (bench.Outcome, error) {
	n := effort.Of(2_000_000, 400_000)
	keys := load.NewKeys(10_000, load.Uniform, 1).All()
	q := subject.New(Options{Sinks: sinks})
	g := watch(ctx, q, meter)
	defer g.Close()

	meter.Begin("cycling", "keys", 0, int64(n))
	right := cycles(q, keys, 1, g) // warm-up
	usage := bench.Measure(func() { right += cycles(q, keys, n/len(keys), g) })

	err := cmp.Or(
		ctx.Err(),
		bench.Prove("keys that came out as they went in", n+len(keys), right),
		bench.Prove("keys left", 0, q.Len()),
	)
	proof := fmt.Sprintf("%d keys came out as they went in", n)
	if sinks != nil && err == nil {
		proof += ", each reported as added, with its wait and with its work"
		err = cmp.Or(
			bench.Prove("keys reported as added", n+len(keys), sinks.Adds.Calls()),
			bench.Prove("waits reported", n+len(keys), sinks.Waits.Calls()),
			bench.Prove("works reported", n+len(keys), sinks.Works.Calls()),
		)
	}
	return bench.Outcome{Figures: perOp(usage, n), Proof: proof}, err
}

// cycles sends all keys through the queue, rounds times, and returns how many came out as they went in.
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
		g.Moved(len(keys))
	}
	return right
}
