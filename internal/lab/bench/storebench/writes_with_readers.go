package storebench

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/bench"
)

// writesWithReaders updates 1,000 of 100,000 objects in one goroutine, neighbours far apart, while
// four others list all objects in a loop. The store has an index by namespace. "writes/s" is the
// number of updates per second, "lists/s" that of all lists together; the scheduler decides which
// processors the readers get. Both sides build their slices. Proven: each list was complete, and
// afterwards the store and its index show each object in the state written last.
func (s subject[T]) writesWithReaders(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	const changing = 100 // one object in a hundred
	lasts := time.Duration(effort.Of(1000, 300)) * time.Millisecond
	c := newContent(s.gear, scenarioObjects, scenarioNamespaces, changing, 0)
	store, err := c.fill()
	if err != nil {
		return bench.Outcome{}, err
	}
	meter.Begin("writing while four read", "updates", lasts, 0)
	readers := start(c.readers(4, List, store, nil))
	at := 0
	next := func() int { at = (at + changing*stride) % scenarioObjects; return at }
	writes, took, err := c.writeFor(ctx, store, lasts, next, meter)
	reads, readError := readers.end()
	if err == nil {
		err = readError
	}
	if err == nil {
		err = c.prove(store)
	}
	return bench.Outcome{
		Figures: map[string]float64{
			"writes/s": float64(writes) / took.Seconds(),
			"lists/s":  float64(reads) / took.Seconds(),
		},
		Proof: fmt.Sprintf("updates of %d of %v while 4 readers list all of them; each list complete; store and index show the last state of each",
			scenarioObjects/changing, c),
	}, err
}

// writeFor updates objects for some time, at least a few, and returns how many.
func (c *content[T]) writeFor(ctx context.Context, store Store[T], lasts time.Duration, next func() int, meter *bench.Meter) (writes int, took time.Duration, err error) {
	// A write may take a few hundred nanoseconds or 15 ms: the clock is read rarely enough for the
	// former and often enough for the latter.
	const many = 8
	for began := time.Now(); writes == 0 || took < lasts; took = time.Since(began) {
		if err := ctx.Err(); err != nil {
			return writes, took, err
		}
		for range many {
			if err := store.Update(c.next(next())); err != nil {
				return writes, took, err
			}
		}
		writes += many
		meter.Count(many)
	}
	return writes, took, nil
}
