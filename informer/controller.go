package informer

import (
	"context"
	"sync"
	"time"

	"orrery/deltafifo"
	"orrery/wait"
)

// controller is the middle of an informer: the reflector puts events into the queue, and the loop
// takes them out. (The name is client-go's; it is unrelated to the controllers that act on
// objects.)
type controller[T any] struct {
	queue   Queue[T]
	batches batchPopper[T] // the queue, if it is one
	// process applies the deltas of one key. It reports its own failures.
	process func(key string, deltas deltafifo.Deltas[T], isInInitialList bool) error
	// idle is called when the queue is empty, and at the latest after maxBatch keys.
	idle func()
	// failed records a panic if wait.ReallyCrash is off.
	failed func(err *ProcessError)

	reflector Reflector
}

// maxBatch bounds for how many keys an event waits for its batch while the queue is not empty.
const maxBatch = 64

// run blocks until ctx has ended and reflector and loop have stopped. The loop runs on the caller's
// goroutine.
func (c *controller[T]) run(ctx context.Context) {
	defer context.AfterFunc(ctx, c.queue.Close)() // wakes a blocked Pop

	var reflecting sync.WaitGroup
	defer reflecting.Wait()
	reflecting.Go(func() { wait.UntilWithContext(ctx, c.reflector.Run, reflectorPause) })

	for ctx.Err() == nil {
		c.processLoop(ctx)
	}
}

// reflectorPause is the pause before a reflector that panicked runs again, with a list first.
const reflectorPause = time.Second

// processLoop pops until the queue is closed. It returns early after a panic if wait.ReallyCrash is
// off. Each panic uses up its event, so restarting cannot become a busy loop.
func (c *controller[T]) processLoop(ctx context.Context) {
	defer wait.HandleCrashWithContext(ctx, func(_ context.Context, p *wait.Panic) {
		c.failed(&ProcessError{Err: p})
	})
	c.idle() // a panic may have left unflushed events
	for ctx.Err() == nil {
		if err := c.processNext(); err != nil {
			return // the queue is closed; it returns no other error
		}
	}
}

// processNext pops one key, or a batch if the queue supports that, and flushes the notifications.
func (c *controller[T]) processNext() (err error) {
	if c.batches != nil {
		_, err = c.batches.PopBatch(maxBatch, c.process)
	} else {
		_, err = c.queue.Pop(c.process)
	}
	c.idle()
	return err
}
