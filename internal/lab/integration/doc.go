// Package integration tests gears together: what a program runs, against the API server in memory,
// in a bubble of virtual time. Informers of typed objects, of metadata and of whole documents share
// one client, over chunked HTTP/1.1, HTTP/2 and websockets, on connections that break: each store
// must catch up with the server from its position, and no connection may be left. What one informer
// does with each answer of a server is asserted by package reflectortest, and storms of faults are
// played by package chaos. The tests in mistakes_test.go run the namespace controller in a whole
// cluster: they make the mistakes for which namespaces are known to hang, check the conditions,
// undo the mistakes, and check that nothing is left.
package integration
