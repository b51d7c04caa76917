package workloads

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"orrery/internal/lab/bench"
)

// QueueScenarios returns the pieces of work for comparisons. Each side has the same keys in the
// same order; upstream/bench/compare/texts says what each measures.
func QueueScenarios(subject QueueSubject) []bench.Scenario {
	w := queueWork{subject}
	return []bench.Scenario{
		{Name: "queue/cycle", Run: w.cycle},
		{Name: "queue/cycle-metrics", Run: w.cycleMetrics},
		{Name: "queue/pipeline", Run: w.pipeline},
		{Name: "queue/add-after", Run: w.addAfter},
		{Name: "queue/add-rate-limited", Run: w.addRateLimited},
	}
}

type queueWork struct{ QueueSubject }

// start returns a new queue that ends with the context, or if it loses a key.
func (w queueWork) start(ctx context.Context, options QueueOptions) *guard {
	return watch(ctx, w.New(options))
}

// cycle is a key's way through an empty queue in one goroutine. There is no waiting and no
// contention, so the figure is the queue's own work per key. All keys have passed the queue once
// before the measurement.
func (w queueWork) cycle(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	return w.cycleWith(ctx, effort, nil)
}

// cycleMetrics is cycle with metrics that only count their calls, so that the queue's own work for
// them is measured. client-go also updates the depth gauge with every Add and Get; this project's
// queue does so every half second.
func (w queueWork) cycleMetrics(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	return w.cycleWith(ctx, effort, new(Sinks))
}

func (w queueWork) cycleWith(ctx context.Context, effort bench.Effort, sinks *Sinks) (bench.Outcome, error) {
	n, keys := effort.Of(2_000_000, 400_000), bench.NewKeys(10_000, bench.Uniform, 1).All()
	g := w.start(ctx, QueueOptions{Sinks: sinks})
	defer g.Close()
	right := cycles(g, keys, 1) // warm-up
	usage := bench.Measure(func() { right += cycles(g, keys, n/len(keys)) })
	err := cmp.Or(
		ctx.Err(),
		bench.Prove("keys that came out in FIFO order", n+len(keys), right),
		bench.Prove("keys left", 0, g.q.Len()),
	)
	proof := fmt.Sprintf("%d keys came out in FIFO order", n)
	if sinks != nil {
		proof += ", each with its add, wait and work metrics"
		for _, calls := range []int{sinks.Adds.Calls(), sinks.Waits.Calls(), sinks.Works.Calls()} {
			err = cmp.Or(err, bench.Prove("adds, waits and works reported", n+len(keys), calls))
		}
	}
	return bench.Outcome{Figures: usage.PerOp(n), Proof: proof}, err
}

// cycles sends all keys through the queue, rounds times, and returns how many came out correctly.
func cycles(g *guard, keys []string, rounds int) (right int) {
	q := g.q
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

const (
	pipelineProducers = 4
	pipelineWorkers   = 4
	pipelineBatch     = 32
)

// pipeline is a burst: four goroutines add different keys as fast as they can to a queue that has
// not grown yet, while four workers process them. The time runs until the last worker has seen the
// shutdown. A Batcher adds and gets keys in batches.
func (w queueWork) pipeline(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	n := effort.Of(1_000_000, 200_000)
	keys := bench.NewKeys(n, bench.Uniform, 1).All()
	sendAll(w.start(ctx, QueueOptions{}), keys[:n/20]) // warm-up
	g := w.start(ctx, QueueOptions{})
	var got keyDigest
	usage := bench.Measure(func() { got = sendAll(g, keys) })
	figures := usage.PerOp(n)
	figures["processed/s"] = float64(n) / usage.Elapsed.Seconds()
	return bench.Outcome{Figures: figures, Proof: fmt.Sprintf("%d keys processed once each", n)},
		cmp.Or(ctx.Err(), proveSame(keys, got))
}

// sendAll sends all keys through the queue and closes its guard. It returns the digest of what the
// workers got.
func sendAll(g *guard, keys []string) (all keyDigest) {
	batcher, ok := g.q.(Batcher)
	if !ok {
		batcher = oneByOne{g.q}
	}
	var producers, workers sync.WaitGroup
	var got [pipelineWorkers]keyDigest
	for i := range got {
		workers.Go(func() { got[i] = workBatches(g, batcher) })
	}
	for i := range pipelineProducers {
		from, to := len(keys)*i/pipelineProducers, len(keys)*(i+1)/pipelineProducers
		producers.Go(func() {
			for batch := range slices.Chunk(keys[from:to], pipelineBatch) {
				batcher.AddAll(batch)
			}
		})
	}
	producers.Wait()
	for g.q.Len() > 0 && !g.ended() {
		time.Sleep(50 * time.Microsecond)
	}
	g.ShutDown()
	workers.Wait()
	g.Close()
	for _, d := range got {
		all.merge(d)
	}
	return all
}

// workBatches processes keys until the shutdown.
func workBatches(g *guard, q Batcher) (got keyDigest) {
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

// keyDigest summarises a multiset of keys: the count, and two sums over a hash of each. It takes a
// few nanoseconds per key and no memory. Two different multisets have the same digest with the
// probability of guessing a 128-bit number.
type keyDigest struct {
	count        int
	sum, squares uint64
}

var keyDigestSeed = maphash.MakeSeed()

func (d *keyDigest) add(key string) {
	h := maphash.String(keyDigestSeed, key)
	d.count++
	d.sum += h
	d.squares += h * (h | 1)
}

func (d *keyDigest) merge(other keyDigest) {
	d.count += other.count
	d.sum += other.sum
	d.squares += other.squares
}

// proveSame proves that got has the wanted keys, once each.
func proveSame(wanted []string, got keyDigest) error {
	var want keyDigest
	for _, key := range wanted {
		want.add(key)
	}
	return cmp.Or(
		bench.Prove("keys processed", want.count, got.count),
		bench.Prove("hash of the keys that were processed", want, got),
	)
}

const (
	// sentinel is added last. It is none of the keys.
	sentinel = "last"
	// broughtForward selects the delayed keys to be added again after the measurement: one in a
	// hundred.
	broughtForward = 100
)

// addAfter delays different keys by an hour, in one goroutine, starting with an empty queue. A
// queue may accept delayed keys asynchronously, so one more key with a delay of a nanosecond
// follows, and the time stops when that key is handed out.
//
// Queues keep keys in tables that double when full, so bytes per key depend on the number of keys.
// A quick run has a quarter of the keys, so its tables have doubled as recently.
func (w queueWork) addAfter(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	delay := func(q Queue, key string) { q.AddAfter(key, Backoff) }
	return w.delayAll(ctx, effort.Of(1_000_000, 250_000), delay, 0)
}

// addRateLimited reports the first failure of different keys. The back-off starts at an hour, so no
// key returns during the run; the time stops as for addAfter.
func (w queueWork) addRateLimited(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	return w.delayAll(ctx, effort.Of(500_000, 300_000), Queue.AddRateLimited, 1)
}

// delayAll delays n keys, each with a number of failures. Afterwards it adds some of them again and
// proves that exactly these are handed out, once each.
func (w queueWork) delayAll(
	ctx context.Context, n int, delay func(Queue, string), failed int,
) (bench.Outcome, error) {
	keys := bench.NewKeys(n, bench.Uniform, 1).All()
	warm := w.start(ctx, QueueOptions{})
	delayThese(warm, keys[:n/20], delay)
	warm.Close()

	g := w.start(ctx, QueueOptions{})
	defer g.Close()
	var first string
	usage := bench.Measure(func() { first = delayThese(g, keys, delay) })
	failures, wanted := 0, []string(nil)
	for i, key := range keys {
		failures += g.q.NumRequeues(key)
		if i%broughtForward == 0 {
			wanted = append(wanted, key)
			g.q.AddAfter(key, 1)
		}
	}
	var got keyDigest
	for range wanted {
		key, shutdown := g.q.Get()
		if shutdown {
			break
		}
		got.add(key)
		g.q.Done(key)
	}
	proof := fmt.Sprintf("%d keys delayed; none came early; %d brought forward, each delivered once; "+
		"%d failures counted", n, n/broughtForward, failures)
	return bench.Outcome{Figures: usage.PerOp(n), Proof: proof}, cmp.Or(
		ctx.Err(),
		bench.Prove("the first key that was handed out", sentinel, first),
		bench.Prove("failures counted", n*failed, failures),
		proveSame(wanted, got),
		bench.Prove("keys that came early", 0, g.q.Len()),
	)
}

// delayThese returns the first key that is handed out.
func delayThese(g *guard, keys []string, delay func(Queue, string)) (first string) {
	for i, key := range keys {
		delay(g.q, key)
		if i%1000 == 999 {
			g.Moved()
		}
	}
	g.q.AddAfter(sentinel, 1)
	first, _ = g.q.Get()
	g.q.Done(first)
	return first
}
