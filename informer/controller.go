package informer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/deltafifo"
	"orrery/deltafifo/fast"
	"orrery/wait"
)

// controller is the middle of an informer: the reflector on one side puts events into the queue, the loop on the
// other side takes them out. (It has nothing to do with the controllers that act on objects; the name is that of
// client-go.)
type controller[T any] struct {
	queue *fast.DeltaFIFO[T]
	// newReflector makes the reflector that run runs, and another one should it panic.
	newReflector func() *Reflector[T]
	reflector    atomic.Pointer[Reflector[T]] // the last one made; never nil
	reflected    bool                         // it has been run; belongs to the goroutine of reflect

	// process applies the deltas of one key and returns how many events wait for idle to be called. It reports its
	// failures itself, each delta's for itself: nothing is put back into the queue.
	process func(key string, deltas deltafifo.Deltas[T], isInInitialList bool) (waiting int)
	// idle is called when the queue has been emptied, and at the latest after maxWaiting keys.
	idle func()
	// release ends all waiting for handlers, so that idle returns. It is called at the end of ctx.
	release func()
	// failed is told of a panic that was survived.
	failed func(err *ProcessError)
}

func newController[T any](queue *fast.DeltaFIFO[T], newReflector func() *Reflector[T]) *controller[T] {
	c := &controller[T]{queue: queue, newReflector: newReflector}
	c.reflector.Store(newReflector())
	return c
}

// maxWaiting bounds for how many keys an event waits for its batch while the queue does not run empty.
const maxWaiting = 64

// run blocks until ctx has ended and reflector and loop have stopped. The loop runs on the caller's goroutine.
func (c *controller[T]) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() {
		c.release()
		c.queue.Close() // wakes a Pop that waits
	})
	defer stop()

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
// the error handler. A reflector runs once, so the next call makes another one, which starts over with a list.
func (c *controller[T]) reflect(ctx context.Context) {
	if c.reflected {
		c.reflector.Store(c.newReflector())
	}
	c.reflected = true
	c.reflector.Load().Run(ctx)
}

// processLoop pops until the end. It returns early after a panic that was survived: each one costs the event that
// it came from, so starting over cannot run hot.
func (c *controller[T]) processLoop(ctx context.Context) {
	defer wait.HandleCrashWithContext(ctx, func(_ context.Context, p *wait.Panic) {
		c.failed(&ProcessError{Err: &PanicError{Value: p.Value}})
	})
	c.idle() // a panic may have left something waiting
	for ctx.Err() == nil {
		if err := c.processNext(); err != nil {
			return // the queue is closed; its Pop returns no other error
		}
	}
}

// processNext works off what waits, up to a batch, and hands on what came of it. The queue takes its lock once a key and
// not three times as for a Pop and a look at what is left.
func (c *controller[T]) processNext() error {
	_, err := c.queue.PopBatch(maxWaiting, c.processKey)
	c.idle()
	return err
}

func (c *controller[T]) processKey(key string, deltas deltafifo.Deltas[T], isInInitialList bool) error {
	c.process(key, deltas, isInInitialList)
	return nil
}
