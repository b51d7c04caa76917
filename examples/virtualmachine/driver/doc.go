// Package driver creates servers for the controller of virtual machines.
//
// # Concept
//
// [Interface] is what the controller needs from an engine. [Memory] is a driver without servers: a
// map, and with a directory also a file, so that its servers outlive the program. The article's
// driver runs containers with Docker.
//
// # Guarantees
//
// Every method is idempotent, also after the program was killed during a call; see [Interface].
//
// # Goroutines
//
// None.
//
// # Failure
//
// What can never be created is a [*RefusedError]. A call ends with its context.
//
// # Testing
//
// The tests have the contract of a driver, which [Memory] fulfils.
//
// Next: package virtualmachine
package driver
