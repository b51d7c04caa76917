// Package integration tests gears together. The tests run what a program runs (restclient,
// Reflector, DeltaFIFO, store, processor and handlers) against a small API server at the other end
// of pipes, in a bubble of virtual time. Three informers share one client: of typed objects, of
// metadata, and of unstructured objects; all three must behave alike. The files in testdata are
// incidents, played over chunked HTTP/1.1, HTTP/2 and websockets with and without TLS; they record
// the server's requests, so an extra request is a failure. At the end of every test each store
// equals the server's collection, each handler's history leads to the same state, and no
// connection, watch or goroutine is left. The tests in mistakes_test.go run the namespace
// controller in a whole cluster: they make the mistakes for which namespaces are known to hang,
// check the conditions, undo the mistakes, and check that nothing is left.
package integration
