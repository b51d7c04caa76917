// Package table has the two containers of the fast forms of the gears: a hash
// table whose entries never move, and a ring.
//
// # Concept
//
// A [Table] maps keys to values. Obtain finds a key, or makes an entry for it, in
// one search. An entry has a reference, a number, by which other structures name
// it: the order of a queue, a heap of delays. Package queue/fast keeps its records
// in the entries; deltafifo/fast, whose records outlive their place in the queue,
// keeps pointers to them.
//
// A [Ring] is a first-in-first-out queue.
//
// The textbook forms use a Go map and a slice in their place. The table is by hand
// because the queue needs entries that stay where they are, small references, and
// room for millions of keys. With a Go map in its place an event of an informer took
// a sixth longer in deltafifo/fast.
//
// # Guarantees
//
// A pointer to an entry is valid until the entry is removed. A table and a ring that
// were large and become empty give their memory back.
//
// # Goroutines
//
// None. Whoever has a table or a ring guards it with a lock.
//
// # Failure
//
// None. A reference or a place that is out of date leads to another entry, or panics.
//
// # Testing
//
// Property tests compare both with a Go map and a slice, with few different hashes,
// so that probes are long.
//
// Next: package queue/fast
package table
