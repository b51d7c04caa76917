package queuebench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orrery/internal/bench"
	"orrery/internal/bench/load"
)

const (
	pipelineProducers = 4
	pipelineWorkers   = 4
)

// Pipeline is a storm: four goroutines add a million different keys, as fast as they can, while four workers take them
// out and give them back. The time is from the first Add until the last worker has seen the shutdown, which is called
// when the queue is empty. Each worker writes down the keys that it got; after the time has stopped, the lists
// together are proven to have each key once. Equal on both sides: producers, workers, keys and their order, and a
// queue that is new and has grown to nothing yet.
func Pipeline(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	n := effort.Of(1_000_000, 200_000)
	keys := load.NewKeys(n, load.Uniform, 1)
	lists := func(capacity int) [][]string {
		lists := make([][]string, pipelineWorkers)
		for i := range lists {
			lists[i] = make([]string, 0, capacity)
		}
		return lists
	}

	warm := watch(ctx, subject.New(Options{}), nil)
	pipeline(warm, keys.All()[:n/20], lists(n/20))
	warm.Close()

	meter.Begin("adding and working", "keys", 0, int64(n))
	got := lists(n)
	g := watch(ctx, subject.New(Options{}), meter)
	defer g.Close()
	usage := bench.Measure(func() { pipeline(g, keys.All(), got) })

	figures := perOp(usage, n)
	figures["processed/s"] = float64(n) / usage.Elapsed.Seconds()
	return bench.Outcome{Figures: figures, Proof: fmt.Sprintf("%d keys processed once each", n)},
		firstError(ctx.Err(), proveOnce(keys, keys.All(), got))
}

// pipeline sends all keys through the queue and shuts it down. Worker i appends the keys that it got to got[i].
func pipeline(g *guard, keys []string, got [][]string) {
	var producers, workers sync.WaitGroup
	for i := range got {
		workers.Go(func() { got[i] = work(g, got[i]) })
	}
	for i := range pipelineProducers {
		from, to := load.Split(len(keys), pipelineProducers, i)
		producers.Go(func() { produce(g.q, keys[from:to]) })
	}
	producers.Wait()
	for g.q.Len() > 0 && !g.ended() {
		time.Sleep(50 * time.Microsecond)
	}
	g.ShutDown()
	workers.Wait()
}

func produce(q Queue, keys []string) {
	for _, key := range keys {
		q.Add(key)
	}
}

// work takes keys until the shutdown and returns them.
func work(g *guard, got []string) []string {
	for {
		key, shutdown := g.q.Get()
		if shutdown {
			return got
		}
		if got = append(got, key); len(got)%1024 == 0 {
			g.Moved(1024)
		}
		g.q.Done(key)
	}
}

// proveOnce proves that the lists together have each of the wanted keys once and nothing else.
func proveOnce(keys *load.Keys, wanted []string, lists [][]string) error {
	count := make([]int, keys.Len())
	strange := 0
	for _, list := range lists {
		for _, key := range list {
			if i := keys.Index(key); i >= 0 {
				count[i]++
			} else {
				strange++
			}
		}
	}
	lost, again := 0, 0
	for _, key := range wanted {
		i := keys.Index(key)
		if count[i] == 0 {
			lost++
		}
		again += max(count[i]-1, 0)
		count[i] = 0
	}
	for _, n := range count {
		strange += n
	}
	return firstError(
		bench.Prove("keys that should not have come", 0, strange),
		bench.Prove("keys lost", 0, lost),
		bench.Prove("keys handed out again", 0, again),
	)
}
