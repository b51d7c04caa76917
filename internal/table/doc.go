// Package table has the two containers of the fast forms of the gears: a hash
// table whose entries never move, and a ring.
//
// # Concept
//
// A [Table] maps keys to values. Find and Insert are one search: Find returns the
// place where a missing key belongs. An entry has a reference, a number, by which
// other structures name it: the order of a queue, a heap of delays.
//
// A [Ring] is a first-in-first-out queue.
//
// The textbook forms use a Go map and a slice in their place. The table is by hand
// because the queue needs entries that stay where they are, small references, and
// room for millions of keys; see the figures in the documentation of Table.
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
