package fifobench

import (
	"context"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// producer adds objects on a goroutine of its own. It stays ahead of the consumer by its share of the backlog at most:
// it counts only what it has added itself, so that producers share nothing but the queue.
type producer[T any] struct {
	counts  []int // how often each object was added
	added   int64
	room    int64 // what added must not reach before the consumer has seen more
	backlog int64
	share   int64 // the number of producers, who are taken to be equally fast
	err     error
}

// add goes on until the time is up, which is no error. It adds something in any case: a machine may be so busy that the time is up before
// it begins.
func (p *producer[T]) add(timed context.Context, c *consumer[T], objects []T, picker *load.Picker, meter *bench.Meter) error {
	for begun := false; !begun || timed.Err() == nil; begun = true {
		for range 64 {
			if p.added >= p.room {
				if err := c.waitFor(timed, (p.added-p.backlog/2)*p.share); err != nil {
					if timed.Err() != nil {
						return nil
					}
					return err
				}
				p.room = c.seen.Load()/p.share + p.backlog
			}
			key := picker.Next()
			if err := c.queue.Add(objects[key]); err != nil {
				return err
			}
			p.counts[key]++
			p.added++
		}
		meter.Count(64)
	}
	return nil
}
