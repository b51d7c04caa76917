package fifobench

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
)

// consumer pops in its own goroutine until the queue is closed and empty.
type consumer[T any] struct {
	queue Queue[T]
	// seen counts the objects handed out; producers read it to bound the backlog.
	seen atomic.Int64
	// turns counts the calls of Pop that returned something. Owned by the goroutine until ended.
	turns int
	// err is the error that ended the loop. Owned by the goroutine until ended.
	err   error
	ended chan struct{}
}

// consume starts a consumer that calls see for every object, in the consumer's goroutine.
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

// finish closes the queue and waits until the consumer has ended.
func (c *consumer[T]) finish() error {
	c.queue.Close()
	<-c.ended
	return c.err
}

// stallTimeout is how long a queue may hand out nothing while events are in flight. It is long
// enough that only a queue that lost an event exceeds it, however busy the machine is.
var stallTimeout = 2 * time.Minute

// waitFor blocks until the consumer has seen n objects. It spins, because parking and waking the
// goroutine would be measured too.
func (c *consumer[T]) waitFor(ctx context.Context, n int64) error {
	var deadline time.Time
	for spins := 1; c.seen.Load() < n; spins++ {
		runtime.Gosched()
		if spins%1024 != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(stallTimeout)
		} else if time.Now().After(deadline) {
			return &bench.ProofError{What: "events handed out before the queue stalled", Want: n, Got: c.seen.Load()}
		}
	}
	return nil
}
