package workloads

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/bench"
)

// scenarioObjects is smaller in tests.
var scenarioObjects = 100_000

// stride leads from each object to a distant one, as events do. It is prime, so it visits all.
const stride = 7919

// Scenarios returns the pieces of work of the comparison.
func (g StoreGear[T]) Scenarios() []bench.Scenario {
	return []bench.Scenario{
		{Name: "store/update", Run: g.update},
		{Name: "store/by-index", Run: g.byIndex},
		{Name: "store/writes-with-readers", Run: g.writesWithReaders},
	}
}

// update stores events that concern distant objects, as from a watch, so the store's records are
// cold in the processor's caches. The new object is warm, as if just decoded: events arrive 16 at a
// time, and the benchmark reads their names before the clock goes on.
func (g StoreGear[T]) update(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	warmUp, updates := scenarioObjects, effort.Of(500_000, 100_000)
	c := newContent(g, scenarioObjects)
	store, err := c.fill()
	if err != nil {
		return bench.Outcome{}, err
	}
	if _, err := c.updates(ctx, store, warmUp); err != nil {
		return bench.Outcome{}, err
	}
	var took time.Duration
	usage := bench.Measure(func() { took, err = c.updates(ctx, store, updates) })
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
func (c *content[T]) updates(ctx context.Context, store Store[T], n int) (took time.Duration, err error) {
	var arrived [16]T // n is a multiple of its length
	for from := 0; from < n; from += len(arrived) {
		if err := ctx.Err(); err != nil {
			return took, err
		}
		for k := range arrived {
			i := (from + k) * stride % len(c.pods)
			arrived[k] = c.next(i)
			if err := bench.Prove("the object that is written", c.keys[i], c.gear.Key(arrived[k])); err != nil {
				return took, err
			}
		}
		began := time.Now()
		for _, obj := range arrived {
			if err := store.Update(obj); err != nil {
				return took, err
			}
		}
		took += time.Since(began)
	}
	return took, nil
}

// byIndex asks for the objects of each namespace in turn. Each side builds the slice that its
// callers get. Reading the objects is left out, as it costs both sides the same.
func (g StoreGear[T]) byIndex(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	reads := effort.Of(10_000, 2000)
	c := newContent(g, scenarioObjects)
	store, err := c.fill()
	if err != nil {
		return bench.Outcome{}, err
	}
	next := c.byIndexReader(store, 0)
	read := func(n int) error {
		for i := range n {
			if _, err := next(i); err != nil {
				return err
			}
			if i%100 == 99 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	}
	if err := read(len(c.names)); err != nil { // warm-up
		return bench.Outcome{}, err
	}
	usage := bench.Measure(func() { err = read(reads) })
	if err == nil {
		err = c.prove(store)
	}
	return bench.Outcome{
		Figures: usage.PerOp(reads),
		Proof:   fmt.Sprintf("%d lists of the %d objects of a namespace of %v", reads, len(c.pods)/len(c.names), c),
	}, err
}

// writesWithReaders updates objects in one goroutine, while four others list all of them in a loop.
func (g StoreGear[T]) writesWithReaders(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	lasts := time.Duration(effort.Of(1000, 300)) * time.Millisecond
	p := &bench.Phase{Driver: bench.Driver{Load: bench.Load{Duration: lasts}}}
	c := newContent(g, scenarioObjects)
	keys := bench.NewKeys(scenarioObjects, bench.Uniform, 1)
	err := c.phase(ctx, p, &StoreConfig{Readers: 4, Reader: ReadList}, keys)
	return bench.Outcome{
		Figures: map[string]float64{"writes/s": float64(p.Done) / p.Usage.Elapsed.Seconds()},
		Proof: fmt.Sprintf("updates of %v while 4 readers list all of them; each list complete; "+
			"store and index show the last state of each", c),
	}, err
}
