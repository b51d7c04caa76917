package queue

// Config of a queue. The zero value is a plain first-in-first-out queue that
// tells nobody what it does.
type Config[K comparable] struct {
	// Name of the queue in metrics and snapshots. Default: none.
	Name string

	// Metrics makes the counters, histograms and gauges of this queue. Default:
	// no metrics, and no clock is read for them. See Queue.UpdateMetrics.
	Metrics MetricsProvider

	// Trace holds callbacks for what happens in the queue. Default: none.
	Trace *Trace[K]

	// Order decides which of the waiting keys is handed out next. Default:
	// first in, first out.
	Order Order[K]

	// HoldBackoff makes a back-off binding: while a key waits because of
	// AddRateLimited, neither Add nor AddAfter makes it wait less. Only Cancel
	// does.
	//
	// Default (false): Add ends the wait. That reacts to news at once, and it is
	// what controllers expect, but if news arrives often then a key that keeps
	// failing is tried as often, each attempt counts as a failure, and the
	// back-off grows to its maximum within seconds
	// (kubernetes/kubernetes#112325, #136853).
	HoldBackoff bool

	// Punctual lets delays end some 20 microseconds after their time, on Linux.
	// With a timer of package time it is some 100, because that wakes in
	// milliseconds and the kernel may add 50 microseconds. Default (false): a timer of
	// package time, which is good enough for everything that waits for a server.
	//
	// It costs a file descriptor and a goroutine from the first delay on, until ShutDown,
	// which the queue must not be dropped without. The kernel knows nothing of the
	// clock in a testing/synctest bubble, so it is not for tests with one.
	Punctual bool
}

// Order is the place where keys wait for a worker. The queue calls it with its
// lock held, so an Order needs no lock of its own and must not call the queue.
//
// It never holds a key twice. The default is a ring of the queue's records,
// not an Order, because an Order knows keys only and costs one look-up more for
// each key that is handed out.
type Order[K comparable] interface {
	// Push takes a key in.
	Push(key K)
	// Pop gives the key that is to be processed next and drops it. It is called
	// only if Len is positive.
	Pop() K
	// Len is the number of keys in the order.
	Len() int
	// Touch tells that a key that waits already was added again.
	Touch(key K)
}
