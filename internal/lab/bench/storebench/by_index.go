package storebench

import (
	"context"
	"fmt"

	"orrery/internal/lab/bench"
)

// byIndex asks ByIndex for the 1,000 objects of each of 100 namespaces in turn, in a store of
// 100,000. Each side builds the slice that its callers get. Reading the objects is left out, as it
// costs both sides the same. Proven: the length of every slice, and that the index holds the right
// objects.
func (s subject[T]) byIndex(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	const warmUp = scenarioNamespaces
	reads := effort.Of(10_000, 2000)
	c := newContent(s.gear, scenarioObjects, scenarioNamespaces, 0, 0)
	store, err := c.fill()
	if err != nil {
		return bench.Outcome{}, err
	}
	meter.Begin("reading", "lists", 0, int64(warmUp+reads))
	read := func(n int) error {
		for i := range n {
			if i%100 == 99 {
				if err := ctx.Err(); err != nil {
					return err
				}
				meter.Count(100)
			}
			got, err := store.ByIndex(c.names[i%len(c.names)])
			if err != nil {
				return err
			}
			if got != scenarioObjects/scenarioNamespaces {
				return bench.Prove("objects in a namespace", scenarioObjects/scenarioNamespaces, got)
			}
		}
		return nil
	}
	if err := read(warmUp); err != nil {
		return bench.Outcome{}, err
	}
	usage := bench.Measure(func() { err = read(reads) })
	if err == nil {
		err = c.prove(store)
	}
	return bench.Outcome{
		Figures: usage.PerOp(reads),
		Proof: fmt.Sprintf("%d lists of the %d objects of a namespace of %v",
			reads, scenarioObjects/scenarioNamespaces, c),
	}, err
}
