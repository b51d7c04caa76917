package queuebench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

const (
	// farFuture is a delay that does not end while anybody measures.
	farFuture = time.Hour
	// sentinel is added last. It is none of the keys.
	sentinel = "last"
	// broughtForward is which part of the delayed keys is asked for after the measurement: one in so many.
	broughtForward = 100
)

// AddAfter delays a million different keys by an hour, in one goroutine and from an empty queue. A queue may take delayed
// keys in asynchronously; so one more key with a delay of a nanosecond follows, and the time stops when that one
// is handed out: then all before it have been taken in. Afterwards every hundredth key is asked for again, to
// come at once, which must bring these, once each, and none of the others. Bytes are all that was allocated on the
// way, garbage included. Equal on both sides: the keys, their order and the delays.
//
// Both sides keep the keys in tables that double when they are full, each at a size of its own, so bytes per key depend on the
// number of keys. A quick run has a quarter of the keys: a power of two, so that its tables have doubled as recently.
func AddAfter(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	keys := load.NewKeys(effort.Of(1_000_000, 250_000), load.Uniform, 1)
	return delayAll(ctx, subject, keys, meter, delays{func(q Queue, key string) { q.AddAfter(key, farFuture) }, 0})
}

// AddRateLimited reports the first failure of half a million different keys to a queue with an exponential back-off for
// each key, which starts at an hour so that nothing comes back meanwhile. As in AddAfter, the time stops when one more key
// is handed out that was delayed by a nanosecond. Proven is that each key has one failure on its account, that none came
// early, and that every hundredth comes once when it is asked for again. Equal on both sides: keys, order, limiter.
func AddRateLimited(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	keys := load.NewKeys(effort.Of(500_000, 300_000), load.Uniform, 1)
	return delayAll(ctx, subject, keys, meter, delays{Queue.AddRateLimited, 1})
}

// delays are a way to delay a key, and how many failures of the key it counts.
type delays struct {
	delay    func(Queue, string)
	failures int
}

func delayAll(ctx context.Context, subject Subject, keys *load.Keys, meter *bench.Meter, d delays) (bench.Outcome, error) {
	n := keys.Len()
	meter.Begin("delaying", "keys", 0, int64(n))

	warm := watch(ctx, subject.New(Options{Backoff: farFuture}), nil)
	delayThese(warm, keys.All()[:n/20], d.delay)
	warm.Close()

	g := watch(ctx, subject.New(Options{Backoff: farFuture}), meter)
	defer g.Close()
	var first string
	usage := bench.Measure(func() { first = delayThese(g, keys.All(), d.delay) })
	failures := 0
	for _, key := range keys.All() {
		failures += g.q.NumRequeues(key)
	}
	proof := fmt.Sprintf("%d keys delayed; none came early; %d came once each when they were asked for; %d failures counted",
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
			g.Moved(1000)
		}
	}
	g.q.AddAfter(sentinel, 1)
	first, _ = g.q.Get()
	g.q.Done(first)
	return first
}

// proveForward asks for a part of the delayed keys and proves that these come, once each, and nothing else.
func proveForward(g *guard, keys *load.Keys) error {
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
