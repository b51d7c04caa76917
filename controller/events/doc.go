// Package events records what a program has done as Kubernetes Events.
//
// # Concept
//
// A [Recorder] accepts Events from any goroutine, queues them, and sends them one after the other.
// [Deletions] adapts the hooks of the namespace controller: it records the outcome of each
// deletion, and what holds one up. These Events are in the namespace "default", since nothing can
// be created in a terminating namespace.
//
// Events are for people, so there must be few. Two of the rules of client-go's recorder apply:
//
//   - An Event that repeats is counted, not written again.
//   - An object gets 25 Events of a type at once, and then one every five minutes.
//
// client-go also combines Events that differ only in their messages. [Deletions] records few such
// Events, and the second rule limits them.
//
// # Guarantees
//
// Event neither blocks nor fails. The Events of one recorder reach the server in order. An Event is
// lost if too many wait, if the server refuses it, or if the server cannot be reached for two
// minutes. Lost Events are counted ([Snapshot]) and passed to a hook ([Trace]). Memory is bounded:
// the queue by its length, each table by 4096 entries.
//
// # Goroutines
//
// Each Recorder has one. [Start] starts it. [Recorder.Stop] ends it after it has sent what waits,
// or when its time is over.
//
// # Failure
//
// After a server has forbidden Events in a namespace it gets none there for ten minutes. While a
// server cannot be reached, each Event is tried twelve times, ten seconds apart. An Event that
// already exists, or whose namespace is being deleted, is not retried.
//
// # Testing
//
// The recorder runs against the built-in API server in a synctest bubble. In the module upstream/
// it runs beside client-go's recorder: calls without similar messages must make the same Events.
//
// Next: package leaderelection
package events
