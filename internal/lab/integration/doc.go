// Package integration tests the seams: what happens between gears that are each tested alone elsewhere.
//
// # Concept
//
// It holds tests only. Each of them runs what a program runs, restclient, Reflector, DeltaFIFO, store, processor and
// handlers, against a small API server at the other end of pipes, in a bubble in which time is free. Three informers
// share one client: of typed objects, of heads, and of whole documents; what is seen of one must be seen of all.
//
// The tests in mistakes_test.go have a whole cluster instead: the built-in API server with its kubelet and its collector, and
// the namespace controller as "orrery run" wires it. They make the mistakes for which namespaces are known to hang, look at what
// the conditions say, undo them, and look whether anything is left.
//
// The files in testdata are incidents, told as scripts. Each is played over every way to the server: chunked HTTP/1.1
// and HTTP/2, a plain websocket and one over TLS. The requests that the server saw stand in the script, so a request
// too many is a failure, and so is a way that behaves differently from the others.
//
// # Guarantees
//
// At the end of every test each store equals the collection on the server, and each handler's history, played into an
// empty map, leads to the same.
//
// # Goroutines
//
// A bubble ends only when every goroutine in it has. Before that the tests ask the server: no connection, no watch.
//
// # Failure
//
// Link faults (cut, silent, refused) are those of package restclienttest, faults of the source (history lost, pages that
// expire, refusals) those of package informertest.
//
// # Testing
//
// go test -rewrite writes the second half of the scripts. Read what it wrote.
//
// Next: package queue, where the reading order of the house begins.
package integration
