package fifobench

import (
	"context"
	"fmt"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// addPop adds objects in one goroutine and pops them in another. The keys repeat after 10,000
// events and at most 1,000 events are in flight, so no key waits twice, nothing is merged, and each
// Add costs a Pop. Time runs from the first Add to the last object handed out.
//
// Both sides get the same ready-made objects and compute keys with their own key function. A
// producer that is ahead waits, with the same code, until half of the events in flight have
// arrived. Our consumer takes batches of up to 64 keys, as RealFIFO does and DeltaFIFO does not;
// each key is handed out by itself. Proven: every object was handed out once, in order.
//
// The limit: the key and its record are one allocation each. Each side takes the lock once per
// object, and two goroutines with no other work always compete for it. In one goroutine, Add and
// Pop together take 100 ns. With two, half of the time goes into moving the lock, the table and the
// queue's slots between processors.
func (s subject[T]) addPop(ctx context.Context, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	const (
		keys    = 10_000
		backlog = 1000
	)
	events, warmUp := effort.Of(500_000, 100_000), effort.Of(50_000, 20_000)
	objects := s.objects(load.MakePods(keys, 100))
	queue, err := s.gear.NewQueue(nil)
	if err != nil {
		return bench.Outcome{}, err
	}

	next, wrong := int64(0), error(nil)
	c := consume(queue, func(obj T, _ bool) {
		if got := s.gear.Number(obj); got != next%keys && wrong == nil {
			wrong = &bench.ProofError{What: "number of the object handed out", Want: next % keys, Got: got}
		}
		next++
	})
	add := func(from, to int) error {
		room := from + backlog // the first event that must wait
		for i := from; i < to; i++ {
			if i == room {
				if err := c.waitFor(ctx, int64(i-backlog/2)); err != nil {
					return err
				}
				room = int(c.seen.Load()) + backlog
			}
			if err := queue.Add(objects[i%keys]); err != nil {
				return err
			}
			if i%1024 == 1023 {
				meter.Count(1024)
				if err := ctx.Err(); err != nil { // needed here: a consumer that keeps up never makes add wait
					return err
				}
			}
		}
		return c.waitFor(ctx, int64(to))
	}

	meter.Begin("adding and popping", "objects", 0, int64(warmUp+events))
	err = add(0, warmUp)
	var usage bench.Usage
	if err == nil {
		usage = bench.Measure(func() { err = add(warmUp, warmUp+events) })
	}
	for _, e := range []error{c.finish(), wrong} {
		if err == nil {
			err = e
		}
	}
	if err == nil {
		err = bench.Prove("objects handed out", int64(warmUp+events), next)
	}
	return bench.Outcome{
		Figures: usage.PerOp(events),
		Proof:   fmt.Sprintf("%d objects added by one goroutine and popped by another, once each and in order", events),
	}, err
}

// objects returns the objects of all pods.
func (s subject[T]) objects(all []load.Pod) []T {
	objects := make([]T, len(all))
	for i, p := range all {
		objects[i] = s.gear.NewObject(p)
	}
	return objects
}
