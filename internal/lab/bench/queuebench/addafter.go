package queuebench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/bench"
)

const (
	// farFuture is a delay longer than any run.
	farFuture = time.Hour
	// sentinel is added last. It is none of the keys.
	sentinel = "last"
	// broughtForward selects the delayed keys to be added again after the measurement: one in a
	// hundred.
	broughtForward = 100
)

// AddAfter delays a million different keys by an hour, in one goroutine, starting with an empty
// queue. A queue may accept delayed keys asynchronously, so one more key with a delay of a
// nanosecond follows, and the time stops when that key is handed out: by then the queue has
// accepted all others. Afterwards every hundredth key is added again without a delay, and exactly
// these must be handed out, once each. Bytes are everything allocated on the way, including
// garbage. Both sides have the same keys, order and delays.
//
// Both sides keep keys in tables that double when full, at sizes of their own, so bytes per key
// depend on the number of keys. A quick run has a quarter of the keys: a power of two, so its
// tables have doubled as recently.
func AddAfter(ctx context.Context, subject Subject, effort bench.Effort) (bench.Outcome, error) {
	keys := bench.NewKeys(effort.Of(1_000_000, 250_000), bench.Uniform, 1)
	return delayAll(ctx, subject, keys, delays{func(q Queue, key string) { q.AddAfter(key, farFuture) }, 0})
}

// AddRateLimited reports the first failure of half a million different keys to a queue with
// per-item exponential back-off. The back-off starts at an hour, so no key returns during the run.
// As in AddAfter, the time stops when one more key, delayed by a nanosecond, is handed out. Proven:
// each key has one failure, none came early, and every hundredth key is handed out once when it is
// added again. Both sides have the same keys, order and limiter.
func AddRateLimited(ctx context.Context, subject Subject, effort bench.Effort) (bench.Outcome, error) {
	keys := bench.NewKeys(effort.Of(500_000, 300_000), bench.Uniform, 1)
	return delayAll(ctx, subject, keys, delays{Queue.AddRateLimited, 1})
}

// delays is a way to delay a key, and the number of failures it records.
type delays struct {
	delay    func(Queue, string)
	failures int
}

func delayAll(ctx context.Context, subject Subject, keys *bench.Keys, d delays) (bench.Outcome, error) {
	n := keys.Len()

	warm := watch(ctx, subject.New(Options{Backoff: farFuture}))
	delayThese(warm, keys.All()[:n/20], d.delay)
	warm.Close()

	g := watch(ctx, subject.New(Options{Backoff: farFuture}))
	defer g.Close()
	var first string
	usage := bench.Measure(func() { first = delayThese(g, keys.All(), d.delay) })
	failures := 0
	for _, key := range keys.All() {
		failures += g.q.NumRequeues(key)
	}
	proof := fmt.Sprintf("%d keys delayed; none came early; %d brought forward, each delivered once; %d failures counted",
		n, n/broughtForward, failures)
	return bench.Outcome{Figures: perOp(usage, n), Proof: proof}, cmp.Or(
		ctx.Err(),
		bench.Prove("the first key that was handed out", sentinel, first),
		bench.Prove("failures counted", n*d.failures, failures),
		proveForward(g, keys),
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

// proveForward adds some of the delayed keys again and proves that exactly these are handed out,
// once each.
func proveForward(g *guard, keys *bench.Keys) error {
	var wanted []string
	var got digest
	for i := 0; i < keys.Len(); i += broughtForward {
		wanted = append(wanted, keys.Key(i))
		g.q.AddAfter(keys.Key(i), 1)
	}
	for range wanted {
		key, shutdown := g.q.Get()
		if shutdown {
			break
		}
		got.add(key)
		g.q.Done(key)
	}
	return cmp.Or(
		proveSame(wanted, got),
		bench.Prove("keys that came early", 0, g.q.Len()),
	)
}
