package informer

import "time"

// Delivery chooses how events get from the processor to the goroutine of a handler: what an event costs, what a slow
// handler costs, and whom it holds up.
//
// The zero value is the default: in [HandlerOptions] that of the informer, in [Config] Batching.
type Delivery uint8

const (
	// Batching, the default: a list of batches that all handlers share, under a mutex, and one goroutine, which
	// takes all that waits at once. The processor wakes it only if it sleeps. A handler may fall behind without
	// limit, unless HandlerOptions.CompactAfter sets one.
	Batching Delivery = iota + 1
	// ChannelPair is the way of the article and of client-go: addCh, a goroutine pop that parks in
	// pendingNotifications what the handler cannot take yet, nextCh, and a goroutine run. Two channel hand-offs
	// an event. A handler may fall behind without limit.
	ChannelPair
	// Bounded has a buffer of fixed size for each handler (Config.Capacity, HandlerOptions.Capacity). When one is
	// full the processor waits: then no handler of this informer is told anything, the store stands still, and what
	// happens meanwhile gathers in the DeltaFIFO, by object. One handler that is slow slows all others down to its
	// own speed. Every event is delivered.
	Bounded
	// Coalescing keeps at most one event for each object. While the handler works on an object, what happens to it
	// merges into one event that is delivered after the handler has returned, which is the acknowledgement. A
	// handler that is stuck costs memory by the number of objects, and skips states in between as the handler of a
	// broken watch does; it is told of every deletion of an object that it was told of.
	Coalescing
)

// String returns the name of the way.
func (d Delivery) String() string {
	switch d {
	case 0:
		return "default"
	case Batching:
		return "batching"
	case ChannelPair:
		return "channel pair"
	case Bounded:
		return "bounded"
	case Coalescing:
		return "coalescing"
	}
	return "unknown"
}

// DefaultCapacity is how many events may wait for a handler with [Bounded] delivery.
const DefaultCapacity = 1024

// pipe is the way from the processor to one handler.
//
// The producer (one at a time) calls add; the goroutine of the listener sits in run; anybody may call release, finish
// and stop, in any order and more than once.
type pipe[T any] interface {
	// add appends events. The slice is shared with others and does not change any more; the pipe may keep it. It
	// never waits for the goroutine of the listener to have been started, if that is going to happen; only the bounded
	// pipe waits for the handler. After finish or stop it is a no-op.
	add(batch []notification[T]) added
	// run lends each event to deliver, in order, until the pipe has been stopped, or finished and emptied.
	// It owns every goroutine that it starts.
	run(deliver func(n *notification[T]))
	// release makes the add that is going on, and any later one, not wait for the handler. Nothing is dropped: what does
	// not fit is kept beyond the bound.
	release()
	// finish closes the entrance: run returns when everything that was added has been delivered.
	finish()
	// stop closes both ends: run returns after the delivery that is going on. What waits is dropped.
	stop()
}

// added is what became of events that were added to a pipe.
type added struct {
	merged int           // events that wait fewer than before for having been merged into others
	waited time.Duration // for the handler to make room
}

// pipeConfig is what a pipe can be told. The zero value gives the default.
type pipeConfig struct {
	delivery     Delivery
	capacity     int // HandlerOptions.Capacity
	compactAfter int // HandlerOptions.CompactAfter
}

func newPipe[T any](c pipeConfig) pipe[T] {
	switch c.delivery {
	case ChannelPair:
		return newChannelPipe[T]()
	case Bounded:
		return newBoundedPipe[T](c.capacity)
	case Coalescing:
		return newCoalescingPipe[T]()
	}
	return newBatchPipe[T](c.compactAfter)
}
