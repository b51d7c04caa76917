package fifobench

import (
	"context"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// producer adds objects in its own goroutine. It is ahead of the consumer by at most its share of
// the backlog. It counts only its own objects, so producers share nothing but the queue.
type producer[T any] struct {
	counts  []int // how often each object was added
	added   int64
	room    int64 // the value of added at which the producer waits for the consumer
	backlog int64
	share   int64 // the number of producers, assumed to be equally fast
	err     error
}

// add adds objects until timed ends, which is not an error. It adds at least once, since on a busy
// machine the time may be up before it begins.
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
