// Package store is the memory of the API server: versioned objects, their history for a while, and watches on both.
// It stands where etcd and the watch cache stand in a real control plane.
//
// # Concept
//
// There is one counter, the resource version. Every write of every collection takes the next number, so that a number
// names one state of everything. A collection holds the objects of one resource and has the name of the directory that
// the namespace design document gives it: /registry/configmaps. The key of an object in it is namespace and name:
//
//	Store ── version 41
//	  ├─ /registry/namespaces   {"", "default"} ─> Object 2    window: 1 2
//	  └─ /registry/configmaps   {"default","a"} ─> Object 39   window: 17 18 23 39 41
//	                            {"default","b"} ─> Object 23            ▲        ▲
//	                                                               a cursor    another
//
// An [Object] is encoded once, when it is written, and is never changed. Everybody who sends it sends the same bytes.
// [Object.AppendJSON] puts the kind in front, since one collection may be served as several versions of an API.
//
// Every collection keeps its latest events: the window. Three things are made of it.
//
//   - A watch is a [Cursor], a position in the window. There is no buffer for a watcher, hence nothing that grows when
//     one is slow: who falls out of the window gets an [*ExpiredError] and lists again. This is the "410 Gone" of the API.
//   - A [View] of an earlier version is the tree of now with the later events undone. So the pages of a long list show
//     one moment, whatever is written meanwhile.
//   - Whether content was unchanged, who was faster, which state a selector has seen before: an [Event] carries the object
//     before and after.
//
// The objects of a collection stand in a B-tree that copies nodes when they are written to after it was copied as a
// whole. Taking a View is therefore a matter of two pointers, and going through it stops nobody.
//
// # Guarantees
//
//   - Writes of all collections have one order, that of their versions. A [Guard] is asked in the same instant in which
//     the write happens: between its yes and the write nothing else is written.
//   - A write names the object that its author has seen. If it is not the current one any more, nothing is written.
//   - A cursor yields every event of its collection after its version, once and in order, or fails with an [*ExpiredError].
//     It never skips.
//   - A View shows the collection exactly as it was at its version.
//   - A version that could be read before is either answered with the same content or refused, never with other content;
//     that also holds for a collection that was dropped and made again.
//   - Bodies, labels and events are shared by everybody and must not be changed.
//   - The window of a collection is bounded in events and in bytes; see [Config].
//
// The order of a View is that of the keys in etcd, which is the order of the text namespace/name. So the objects of the
// namespace "a-b" come before those of "a": a hyphen comes before a slash. Real lists have the same surprise.
//
// # Goroutines
//
// The package starts none. Store, Collection and View may be used from any goroutine; a Cursor belongs to one goroutine at
// a time and needs no closing. Hooks run on the goroutine that writes or reads, without a lock.
//
// # Failure
//
// [*ExistsError], [*ExpiredError], [*FutureError], [*KeyError] and [ErrDropped]; use errors.As and errors.Is. A write that
// returns an error has written nothing. What a Guard returns is passed on as it is.
//
// # Testing
//
// Property tests play random writes, compactions and reads against a model that remembers every version, and check the
// invariants of trees and windows after each step. The measurements that docs/apiserver.md quotes are benchmarks here.
//
// Sources: the namespace design document (keys), "Efficient detection of changes" and "Resource versions" in the
// Kubernetes API concepts.
//
// Next: package registry
package store
