package informer

// Delivery chooses how events get from the processor to the goroutine of a handler. The two ways behave the
// same; they differ in what an event costs.
type Delivery uint8

const (
	// Batching, the default: a list of batches that all handlers share, under a mutex, and one goroutine, which
	// takes all that waits at once. The processor wakes it only if it sleeps.
	Batching Delivery = iota
	// ChannelPair is the way of the article and of client-go: addCh, a goroutine pop that parks in
	// pendingNotifications what the handler cannot take yet, nextCh, and a goroutine run. Two channel hand-offs
	// an event.
	ChannelPair
)

// String returns the name of the way.
func (d Delivery) String() string {
	switch d {
	case Batching:
		return "batching"
	case ChannelPair:
		return "channel pair"
	}
	return "unknown"
}

// pipe is the way from the processor to one handler.
//
// The producer (one at a time) calls add; the goroutine of the listener sits in run; anybody may call finish
// and stop, in any order and more than once.
type pipe[T any] interface {
	// add appends events. The slice is shared with others and does not change any more; the pipe may keep it. It
	// waits neither for the handler nor for its goroutine to have been started, if that is going to happen. After
	// finish or stop it is a no-op. It returns how many of the waiting events it has merged into others.
	add(batch []notification[T]) (merged int)
	// run lends each event to deliver, in order, until the pipe has been stopped, or finished and emptied.
	// It owns every goroutine that it starts.
	run(deliver func(n *notification[T]))
	// finish closes the entrance: run returns when everything that was added has been delivered.
	finish()
	// stop closes both ends: run returns after the delivery that is going on. What waits is dropped.
	stop()
}

func newPipe[T any](d Delivery, compactAfter int) pipe[T] {
	if d == ChannelPair {
		return newChannelPipe[T]()
	}
	return newBatchPipe[T](compactAfter)
}
