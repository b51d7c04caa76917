// Package integration tests gears together: what a program runs, against the API server in memory,
// in a bubble of virtual time. Informers of typed objects, of metadata and of whole documents share
// one client, over chunked HTTP/1.1, HTTP/2 and websockets, on connections that break: each store
// must catch up with the server from its position, and no connection may be left. What one informer
// does with each answer of a server is asserted by package reflectortest, storms of faults are
// played by package chaos, and the situations in which namespaces hang are those of package causes.
package integration
