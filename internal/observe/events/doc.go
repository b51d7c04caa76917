// Package events notes in the cluster what a program has done, as Events that kubectl shows.
//
// # Concept
//
// A [Recorder] takes notes from any goroutine, puts them into a queue of its own and sends them one after the other.
// [Deletions] is the adapter that makes such notes of what the namespace controller does: the outcome of each deletion,
// and what holds one up. They stand in the namespace "default", since nothing can be created in one that is being
// deleted.
//
// Events are for people, so there must be few. The rules are those of client-go's recorder: an Event that repeats itself
// is counted and not written again; from the tenth similar one within ten minutes on (nothing differs but the message) one
// Event stands for all, "(combined from similar events): ..."; an object may be the subject of 25 Events of a type at once,
// and then of one in five minutes.
//
// # Guarantees
//
// Event never blocks and never fails. Events of one recorder reach the server in the order in which they were noted. An
// Event may be lost: when too many wait, when the server refuses it, or cannot be reached for two minutes. What was lost is
// counted ([Snapshot]) and told to the hooks ([Trace]). Memory is bounded: the queue by its length, each table of what was
// noted before by 4096 entries, a message by its hash.
//
// # Goroutines
//
// One for each Recorder: Start starts it and Stop ends it, after it has sent what waits, or when the time for that is over.
//
// # Failure
//
// A server that forbids Events is asked again after ten minutes, and not before: who has not been given the right does
// without. A server that cannot be reached is asked twelve times, ten seconds apart. An Event that exists already, or whose
// namespace is being deleted, is let go. A hook that panics ends its Event, and goes to wait.HandleCrash.
//
// # Testing
//
// The recorder runs against the built-in API server in a synctest bubble, and, in the module upstream, beside client-go's
// recorder: the same notes must make the same Events.
//
// Next: package leaderelection
package events
