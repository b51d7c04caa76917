package fifobench

import (
	"context"
	"fmt"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// addPop: one goroutine adds objects, another pops them. The keys come round after 10,000 events, and never more than
// 1,000 events are on their way, so no key waits twice, nothing is merged, and each Add costs a Pop. Time runs from the
// first Add to the last object handed out. Both sides get the same objects, ready made, and compute the keys with their
// own key function from namespace and name; the wait of a producer that is ahead, until half of what is on its way has
// arrived, is the same code. Our consumer takes batches of up to 64 keys, which DeltaFIFO does not have and the original's
// RealFIFO has; each key is still handed out by itself. Proven: every object was handed out, once, in the order in which
// it came in.
//
// The limit: one allocation is the key, one the record; the lock is taken once by each side for each object, and two
// goroutines that do nothing else meet at it all the time. Alone on one goroutine Add and Pop together take 100 ns; next
// to each other the processors hand the lock, the table and the line's places to and fro, which is half of the time here.
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
		room := from + backlog // the first that has to wait
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
				if err := ctx.Err(); err != nil { // a consumer that keeps up is never waited for
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
		Proof:   fmt.Sprintf("%d objects added by one goroutine and handed out to another, once each and in order", events),
	}, err
}

// objects makes the objects of all pods.
func (s subject[T]) objects(all []load.Pod) []T {
	objects := make([]T, len(all))
	for i, p := range all {
		objects[i] = s.gear.NewObject(p)
	}
	return objects
}
