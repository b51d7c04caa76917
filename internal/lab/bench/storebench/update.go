package storebench

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/bench"
)

// scenarioObjects is smaller in tests.
var scenarioObjects = 100_000

const (
	scenarioNamespaces = 100
	// stride leads from each object to a distant one, as events do. It is prime, so it visits all.
	stride = 7919
)

// update stores events in a store of 100,000 objects in 100 namespaces, with an index by namespace.
// Consecutive events concern distant objects, as from a watch, so the store's records are cold in
// the processor's caches. The new object is warm, as if just decoded: events arrive 16 at a time,
// and the benchmark reads their names before the clock goes on. Both sides get the same ready-made
// objects in the same order, and compute key and index value with their own functions. Proven:
// afterwards List, ByIndex and Get show each object in the state written last.
//
// The limit: key function and index function cost the same on both sides. Most of the rest is
// waiting for memory, one cache line after the other: a group of the table, the record, its key, a
// chunk in each of two lists.
func (s subject[T]) update(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	warmUp, updates := scenarioObjects, effort.Of(500_000, 100_000)
	c := newContent(s.gear, scenarioObjects, scenarioNamespaces, 1, 0)
	store, err := c.fill()
	if err != nil {
		return bench.Outcome{}, err
	}
	meter.Begin("updating", "objects", 0, int64(warmUp+updates))
	if _, err := c.updates(ctx, store, warmUp, meter); err != nil {
		return bench.Outcome{}, err
	}
	var took time.Duration
	usage := bench.Measure(func() { took, err = c.updates(ctx, store, updates, meter) })
	usage.Elapsed = took
	if err == nil {
		err = c.prove(store)
	}
	return bench.Outcome{
		Figures: usage.PerOp(updates),
		Proof:   fmt.Sprintf("%d updates of %v; store and index show the last state of each", updates, c),
	}, err
}

// updates stores the objects of n events and returns the time spent in the store.
func (c *content[T]) updates(ctx context.Context, store Store[T], n int, meter *bench.Meter) (took time.Duration, err error) {
	var arrived [16]T // n is a multiple of its length
	for from := 0; from < n; from += len(arrived) {
		if err := ctx.Err(); err != nil {
			return took, err
		}
		for k := range arrived {
			i := (from + k) * stride % len(c.pods)
			if arrived[k] = c.next(i); !c.named(i, arrived[k]) {
				return took, &bench.ProofError{What: "name of the object that is written", Want: c.keys[i], Got: "another"}
			}
		}
		began := time.Now()
		for _, obj := range arrived {
			if err := store.Update(obj); err != nil {
				return took, err
			}
		}
		took += time.Since(began)
		meter.Count(len(arrived))
	}
	return took, nil
}
