// Package load makes the load of a benchmark: which keys, in which distribution, at which moments, and what a handler
// costs.
//
// # Concept
//
// A load is decided before it is measured. [Keys] are made once, a [Picker] draws from them in a few nanoseconds and
// without allocating, so that what is measured is the subject and not the generator. The same seed gives every subject
// the same sequence.
//
// A [Pacer] says when each event of an open loop is due: event i at i/rate, whatever the subject does meanwhile. A
// producer that waits for its subject before it makes the next event forgets the events that it would have made in the
// meantime, and with them the latencies that a user would have seen; this is known as coordinated omission. So a
// latency is the time from when the event was due until it was handled, and an event whose time has passed is due at
// once.
//
// [Load] is all of that as flags, and the flags for numbers and sizes are here as well.
//
// # Guarantees
//
// Keys are distinct. A Picker's sequence depends on the seed and the producer only. The dues of a Pacer do not depend on
// how late somebody was. [Split] gives every item to exactly one part.
//
// # Goroutines
//
// There are none. Keys, [Pacer] and [Cost] are immutable, all goroutines may use the same. A Picker belongs to one
// goroutine.
//
// # Failure
//
// A flag with a value that makes no sense is an error that names the flag. A number of keys below one or a rate that is not
// above zero is a mistake of the caller and panics.
//
// # Testing
//
// Shares of keys are compared with what the distribution says; the Pacer's dues with arithmetic, and its waiting on the
// clock of a bubble.
//
// Next: package queuebench
package load
