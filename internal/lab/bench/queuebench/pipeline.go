package queuebench

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

const (
	pipelineProducers = 4
	pipelineWorkers   = 4
	pipelineBatch     = 32
)

// Pipeline is a storm: four goroutines add a million different keys, as fast as they can, while four workers take them
// out and give them back. The time is from the first Add until the last worker has seen the shutdown, which is called
// when the queue is empty. Each worker counts the keys that it got and sums up their hashes; together these are proven
// to be those of all keys, once each. Equal on both sides: producers, workers, keys and their order, and a queue that is
// new and has not grown yet. A queue that takes and gives many keys at a time (Batcher) does so, 32 at a time.
//
// The limit: a queue with one lock uses one processor. With batches hardly anybody waits for the lock any more; of some
// 110 ns of processor time a key, 70 go into adding it (hash, a cache miss in a table of 16 MiB, new memory), 45 into
// taking it out and giving it back. What is left are misses and memory, not hand-overs.
func Pipeline(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	n := effort.Of(1_000_000, 200_000)
	keys := load.NewKeys(n, load.Uniform, 1).All()

	warm := watch(ctx, subject.New(Options{}), nil)
	pipeline(warm, keys[:n/20])
	warm.Close()

	meter.Begin("adding and working", "keys", 0, int64(n))
	g := watch(ctx, subject.New(Options{}), meter)
	defer g.Close()
	var got digest
	usage := bench.Measure(func() { got = pipeline(g, keys) })

	figures := perOp(usage, n)
	figures["processed/s"] = float64(n) / usage.Elapsed.Seconds()
	figures["cpu-ns/op"] = float64(usage.CPU) / float64(n)
	return bench.Outcome{Figures: figures, Proof: fmt.Sprintf("%d keys processed once each", n)},
		cmp.Or(ctx.Err(), proveSame(keys, got))
}

// pipeline sends all keys through the queue and shuts it down. It returns what the workers got.
func pipeline(g *guard, keys []string) (all digest) {
	var producers, workers sync.WaitGroup
	var got [pipelineWorkers]digest
	for i := range got {
		workers.Go(func() { got[i] = work(g) })
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
	for _, d := range got {
		all.merge(d)
	}
	return all
}

func produce(q Queue, keys []string) {
	batcher, ok := q.(Batcher)
	for len(keys) > 0 {
		n := min(len(keys), pipelineBatch)
		if ok {
			batcher.AddAll(keys[:n])
		} else {
			for _, key := range keys[:n] {
				q.Add(key)
			}
		}
		keys = keys[n:]
	}
}

// work takes keys until the shutdown.
func work(g *guard) (got digest) {
	if batcher, ok := g.q.(Batcher); ok {
		return workInBatches(g, batcher)
	}
	for {
		key, shutdown := g.q.Get()
		if shutdown {
			return got
		}
		if got.add(key); got.count%1024 == 0 {
			g.Moved(1024)
		}
		g.q.Done(key)
	}
}

func workInBatches(g *guard, q Batcher) (got digest) {
	var keys [pipelineBatch]string
	for moved := 0; ; {
		n, shutdown := q.GetBatch(keys[:])
		if shutdown {
			return got
		}
		for _, key := range keys[:n] {
			got.add(key)
		}
		if got.count-moved >= 1024 {
			g.Moved(got.count - moved)
			moved = got.count
		}
		q.DoneAll(keys[:n])
	}
}

// PipelineSingly is Pipeline with one key at a time for every subject, also for those that can take and give many at once:
// what somebody gets who changes the queue and nothing else.
func PipelineSingly(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	return Pipeline(ctx, singly{subject}, effort, meter)
}

// singly hides that the queues of a subject are batchers.
type singly struct{ Subject }

func (s singly) New(options Options) Queue { return struct{ Queue }{s.Subject.New(options)} }
