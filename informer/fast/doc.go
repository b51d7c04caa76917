// Package fast has the fast processor of an informer, and [Gears], the fast form of all its parts.
//
// # Concept
//
// The textbook processor performs two channel operations per event and handler. This one appends
// events to a batch, and passes the batch to all handlers when the informer's queue is empty, or
// after 64 keys. Handlers share the batch: it never changes, and each keeps only a reference.
// Sixteen handlers cost little more than one, and a state that waits for several slow handlers is
// in memory once.
//
//	Distribute → batch ──Flush──┬→ delivery queue → handler
//	                            └→ delivery queue → handler
//
// If the backlog of a handler must be bounded, its events are merged, see
// [informer.HandlerOptions]: at most one waits per object.
//
// # Guarantees
//
// Those of [informer.Processor]. Merged events have the same effect as the original ones: a handler
// cannot distinguish them from a gap in the watch.
//
// # Goroutines
//
// One per handler. Run waits for them.
//
// # Failure
//
// Package informer recovers the panics of handlers.
//
// # Testing
//
// The contract of package informertest, with and without merging, and properties: with any merging,
// a handler ends in the state of the store and receives the deletion of every object that it knew.
//
// Next: package restclient
package fast

import (
	"orrery/deltafifo"
	deltafifofast "orrery/deltafifo/fast"
	"orrery/indexer"
	indexerfast "orrery/indexer/fast"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
)

// Gears returns the fast form of every part of an informer.
func Gears[T any]() informer.Gears[T] {
	return informer.Gears[T]{
		NewQueue:     func(cfg deltafifo.Config[T]) informer.Queue[T] { return deltafifofast.New(cfg) },
		NewStore:     func(cfg indexer.Config[T]) informer.Indexer[T] { return indexerfast.New(cfg) },
		NewReflector: func(cfg reflector.Config[T]) informer.Reflector { return machine.New(cfg) },
		NewProcessor: NewProcessor[T],
	}
}

// NewProcessor returns a new processor that shares batches.
func NewProcessor[T any]() informer.Processor[T] { return &processor[T]{} }

// NewCoalescingProcessor returns a new processor that keeps at most one event per object and
// handler, regardless of the handler's options.
func NewCoalescingProcessor[T any]() informer.Processor[T] { return &processor[T]{coalescing: true} }
