package fifobench

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
)

// consumer pops on a goroutine of its own until the queue is closed and empty.
type consumer[T any] struct {
	queue Queue[T]
	// seen counts what was handed out, for those who wait until there is less on its way.
	seen atomic.Int64
	// turns counts the calls of Pop that brought something. The goroutine's, until ended.
	turns int
	// err is what ended the loop. The goroutine's, until ended.
	err   error
	ended chan struct{}
}

// consume starts a consumer that shows everything to see, which runs on the consumer's goroutine.
func consume[T any](queue Queue[T], see func(obj T, deleted bool)) *consumer[T] {
	c := &consumer[T]{queue: queue, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.err = c.loop(see)
	}()
	return c
}

func (c *consumer[T]) loop(see func(obj T, deleted bool)) error {
	n := int64(0)
	count := func(obj T, deleted bool) {
		see(obj, deleted)
		n++
	}
	pop := c.queue.Popper(count)
	for {
		switch err := pop(); {
		case errors.Is(err, ErrClosed):
			return nil
		case err != nil:
			return err
		}
		c.turns++
		c.seen.Store(n)
	}
}

// finish closes the queue and waits for the end of the consumer.
func (c *consumer[T]) finish() error {
	c.queue.Close()
	<-c.ended
	return c.err
}

// patience is how long a queue may hand out nothing while something is on its way. Only one that has lost what it was
// given takes that long, however busy the machine is.
var patience = 2 * time.Minute

// waitFor waits until the consumer has seen n. It is an open-eyed wait: putting the goroutine to sleep and waking it up
// would be measured as well.
func (c *consumer[T]) waitFor(ctx context.Context, n int64) error {
	var given time.Time
	for spins := 1; c.seen.Load() < n; spins++ {
		runtime.Gosched()
		if spins%1024 != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if given.IsZero() {
			given = time.Now().Add(patience)
		} else if time.Now().After(given) {
			return &bench.ProofError{What: "events handed out before the queue came to a standstill", Want: n, Got: c.seen.Load()}
		}
	}
	return nil
}
