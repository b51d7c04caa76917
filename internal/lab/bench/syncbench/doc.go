// Package syncbench measures the first sync of an informer: how much processor time, memory and time it takes until a
// program that was started a moment ago knows all pods of a large cluster.
//
// # Concept
//
// A server in a process of its own holds the pods, made up by [Generator], and their bytes, encoded beforehand, so that it
// costs next to nothing while it answers. A [Subject] starts an informer on it, with a handler that counts, and the
// workload waits until the informer and the handler have seen everything:
//
//	server process                          this process
//	Generator ──> bytes ── HTTP, no TLS ──> client ──> reflector ──> queue ──> store, handler
//
// The pods are asked for as metadata (PartialObjectMetadata), the way of controllers that need no more: garbage
// collector, namespace controller, ownership. The server sends managed
// fields, as a real server does, and no cache keeps them. A pod's head is about 2.7 kB of JSON, half of it managed fields,
// or 2.1 kB of protobuf.
//
// What the server does is what kube-apiserver 1.36 does, with one exception. A list at resource version "0" is answered
// as a whole, whatever limit was asked for, as from the watch cache; encoding is negotiated; watches stay open and carry
// nothing. But streaming lists (sendInitialEvents) are refused, as a server without them refuses them: both this project
// and client-go 0.36 ask for one first, and fall back to a plain list at once. client-go needs more than twice the processor time for a stream than for a list, so the list is the
// comparison that is harder to win.
//
// # Guarantees
//
// A result is verified: a digest over the content of every cached object, managed fields and the order left out, has to be that of the pods that the server made up.
//
// # Goroutines
//
// The server is a child of the process, the same program started again (see [ServeIfAsked]); it ends when its standard
// input does, and so never survives its parent. Run and the scenarios have ended server and informer when they return.
//
// # Failure
//
// A cache that differs is a [*bench.ProofError]. A server that does not start, and a subject that does not get on, are
// errors; all waiting ends with the context.
//
// # Testing
//
// Both encodings of the server are decoded and compared with what was generated; subjects that lose or change a pod have
// to be noticed.
//
// Next: package worker
package syncbench
