package queuebench

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"orrery/internal/lab/bench"
)

const (
	pipelineProducers = 4
	pipelineWorkers   = 4
	pipelineBatch     = 32
)

// Pipeline is a burst: four goroutines add a million different keys as fast as they can, while four
// workers process them. The time runs from the first Add until the last worker has seen the
// shutdown, which follows when the queue is empty. Each worker counts its keys and sums up their
// hashes; together these prove that every key was handed out once. Both sides have the same
// producers, workers, keys and order, and a new queue that has not grown yet. A Batcher adds and
// gets keys in batches of 32.
func Pipeline(ctx context.Context, subject Subject, effort bench.Effort) (bench.Outcome, error) {
	n := effort.Of(1_000_000, 200_000)
	keys := bench.NewKeys(n, bench.Uniform, 1).All()

	warm := watch(ctx, subject.New(Options{}))
	pipeline(warm, keys[:n/20])
	warm.Close()

	g := watch(ctx, subject.New(Options{}))
	defer g.Close()
	var got digest
	usage := bench.Measure(func() { got = pipeline(g, keys) })

	figures := perOp(usage, n)
	figures["processed/s"] = float64(n) / usage.Elapsed.Seconds()
	figures["cpu-ns/op"] = float64(usage.CPU) / float64(n)
	return bench.Outcome{Figures: figures, Proof: fmt.Sprintf("%d keys processed once each", n)},
		cmp.Or(ctx.Err(), proveSame(keys, got))
}

// pipeline sends all keys through the queue and shuts it down. It returns the digest of what the
// workers got.
func pipeline(g *guard, keys []string) (all digest) {
	batcher, ok := g.q.(Batcher)
	if !ok {
		batcher = oneByOne{g.q}
	}
	var producers, workers sync.WaitGroup
	var got [pipelineWorkers]digest
	for i := range got {
		workers.Go(func() { got[i] = work(g, batcher) })
	}
	for i := range pipelineProducers {
		from, to := bench.Split(len(keys), pipelineProducers, i)
		producers.Go(func() { produce(batcher, keys[from:to]) })
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

func produce(q Batcher, keys []string) {
	for len(keys) > 0 {
		n := min(len(keys), pipelineBatch)
		q.AddAll(keys[:n])
		keys = keys[n:]
	}
}

// work processes keys until the shutdown.
func work(g *guard, q Batcher) (got digest) {
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
			g.Moved()
			moved = got.count
		}
		q.DoneAll(keys[:n])
	}
}

// oneByOne is a queue without batches as a Batcher.
type oneByOne struct{ Queue }

func (q oneByOne) AddAll(keys []string) {
	for _, key := range keys {
		q.Add(key)
	}
}

func (q oneByOne) GetBatch(keys []string) (n int, shutdown bool) {
	keys[0], shutdown = q.Get()
	return 1, shutdown
}

func (q oneByOne) DoneAll(keys []string) { q.Done(keys[0]) }

// PipelineSingly is Pipeline with one key at a time, for Batchers too. It shows what changing only
// the queue brings.
func PipelineSingly(ctx context.Context, subject Subject, effort bench.Effort) (bench.Outcome, error) {
	return Pipeline(ctx, singly{subject}, effort)
}

// singly hides that a subject's queues are Batchers.
type singly struct{ Subject }

func (s singly) New(options Options) Queue { return struct{ Queue }{s.Subject.New(options)} }

// digest summarises a multiset of keys: the count, and two sums over a hash of each. It takes a few
// nanoseconds per key and no memory. Two different multisets have the same digest with the
// probability of guessing a 128-bit number.
type digest struct {
	count        int
	sum, squares uint64
}

var digestSeed = maphash.MakeSeed()

func (d *digest) add(key string) {
	h := maphash.String(digestSeed, key)
	d.count++
	d.sum += h
	d.squares += h * (h | 1)
}

func (d *digest) merge(other digest) {
	d.count += other.count
	d.sum += other.sum
	d.squares += other.squares
}

func digestOf(keys []string) (d digest) {
	for _, key := range keys {
		d.add(key)
	}
	return d
}

// proveSame proves that got has the wanted keys, once each.
func proveSame(wanted []string, got digest) error {
	want := digestOf(wanted)
	return cmp.Or(
		bench.Prove("keys processed", want.count, got.count),
		bench.Prove("hash of the keys that were processed", want, got),
	)
}
