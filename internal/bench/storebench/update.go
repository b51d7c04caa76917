package storebench

import (
	"context"
	"fmt"

	"orrery/internal/bench"
)

const (
	scenarioObjects    = 100_000
	scenarioNamespaces = 100
	// stride leads from each object to one far away, as events do, and comes to all of them: it is prime.
	stride = 7919
)

// update: a store holds 100,000 objects in 100 namespaces with an index by namespace; event after event brings an
// object in a new state, and Update stores it. Events visit the objects in an order in which neighbours are far apart,
// as they come from a watch; for every event the new object, the old one and what the store knows of it are cold in the
// processor's caches. Both sides get the same objects, ready made, in the same order, and compute key and index value
// with their own functions from namespace and name. Proven: afterwards List, ByIndex and Get show each object in the
// state that was written last.
func (s subject[T]) update(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	const warmUp = scenarioObjects
	updates := effort.Of(500_000, 100_000)
	c := newContent(s.gear, scenarioObjects, scenarioNamespaces, 2, 0)
	store, err := c.fill()
	if err != nil {
		return bench.Outcome{}, err
	}
	meter.Begin("updating", "objects", 0, int64(warmUp+updates))
	write := func(n int) error {
		for i := range n {
			if i%1024 == 1023 {
				if err := ctx.Err(); err != nil {
					return err
				}
				meter.Count(1024)
			}
			if err := store.Update(c.next(i * stride % scenarioObjects)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write(warmUp); err != nil {
		return bench.Outcome{}, err
	}
	usage := bench.Measure(func() { err = write(updates) })
	if err == nil {
		err = c.prove(store)
	}
	return bench.Outcome{
		Figures: usage.PerOp(updates),
		Proof:   fmt.Sprintf("%d updates of %v; store and index show the last state of each", updates, c),
	}, err
}
