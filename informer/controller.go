package informer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/deltafifo"
	"orrery/wait"
)

// controller is the middle of an informer: the reflector on one side puts events into the queue, the loop on the
// other side takes them out. (It has nothing to do with the controllers that act on objects; the name is that of
// client-go.)
type controller[T any] struct {
	queue   Queue[T]
	batches batchPopper[T] // the queue, if it is one
	// process applies the deltas of one key. It reports its failures itself.
	process func(key string, deltas deltafifo.Deltas[T], isInInitialList bool) error
	// idle is called when the queue has been emptied, and at the latest after maxBatch keys.
	idle func()
	// failed records a panic that was survived.
	failed func(err *ProcessError)

	// newReflector makes the reflector that run runs, and another one should it panic.
	newReflector func() Reflector
	reflector    atomic.Pointer[Reflector] // the last one made; never nil
}

func (c *controller[T]) renewReflector() {
	r := c.newReflector()
	c.reflector.Store(&r)
}

// maxBatch bounds for how many keys an event waits for its batch while the queue does not run empty.
const maxBatch = 64

// run blocks until ctx has ended and reflector and loop have stopped. The loop runs on the caller's goroutine.
func (c *controller[T]) run(ctx context.Context) {
	defer context.AfterFunc(ctx, c.queue.Close)() // wakes a Pop that waits

	var reflecting sync.WaitGroup
	defer reflecting.Wait()
	reflecting.Go(func() { wait.UntilWithContext(ctx, c.reflect, reflectorPause) })

	for ctx.Err() == nil {
		c.processLoop(ctx)
	}
}

// reflectorPause is how long a reflector is not replaced after a panic that was survived.
const reflectorPause = time.Second

// reflect runs a reflector to its end, which before the end of ctx is a panic: of the ListerWatcher, of a hook, of
// the error handler. A reflector runs once, so the next call has another one, which starts over with a list.
func (c *controller[T]) reflect(ctx context.Context) {
	defer func() {
		if ctx.Err() == nil {
			c.renewReflector()
		}
	}()
	(*c.reflector.Load()).Run(ctx)
}

// processLoop pops until the end. It returns early after a panic that was survived: each one costs the event that
// it came from, so starting over cannot run hot.
func (c *controller[T]) processLoop(ctx context.Context) {
	defer wait.HandleCrashWithContext(ctx, func(_ context.Context, p *wait.Panic) {
		c.failed(&ProcessError{Err: p})
	})
	c.idle() // a panic may have left something waiting
	for ctx.Err() == nil {
		if err := c.processNext(); err != nil {
			return // the queue is closed; it returns no other error
		}
	}
}

// processNext pops one key, or as many as wait if the queue can do that, and hands on what came of it.
func (c *controller[T]) processNext() (err error) {
	if c.batches != nil {
		_, err = c.batches.PopBatch(maxBatch, c.process)
	} else {
		_, err = c.queue.Pop(c.process)
	}
	c.idle()
	return err
}
