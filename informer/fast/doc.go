// Package fast has the fast processor of an informer, and [Gears], the fast form of everything that an informer is made of.
//
// # Concept
//
// The textbook processor makes two channel operations for each event and handler. This one appends events to a batch, and
// hands the batch to all handlers when the informer has nothing better to do, or after 64 keys. Handlers share the batch: it
// never changes, and each keeps only a reference to it. Sixteen handlers cost little more than one, and a state of an
// object that waits for several slow handlers is in memory once.
//
//	Distribute → batch ──Flush──┬→ delivery queue → handler
//	                            └→ delivery queue → handler
//
// A handler whose backlog must have a bound has its events merged, see [informer.HandlerOptions]: at most one waits for each
// object.
//
// # Guarantees
//
// Those of [informer.Processor]. Merged events have the same effect as the events that they were made of: a handler
// cannot tell them from a gap in the watch.
//
// # Goroutines
//
// One for each handler. Run waits for them.
//
// # Failure
//
// Panics of handlers are dealt with in package informer.
//
// # Testing
//
// The contract of package informertest, with and without merging, and properties: whatever is merged, a handler ends in the
// state of the store and receives the deletion of everything that it knew.
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

// NewProcessor returns the processor that shares batches.
func NewProcessor[T any]() informer.Processor[T] { return &processor[T]{} }

// NewCoalescingProcessor returns a processor that keeps at most one event for each object and handler, whatever the options of
// the handler are.
func NewCoalescingProcessor[T any]() informer.Processor[T] { return &processor[T]{coalescing: true} }
