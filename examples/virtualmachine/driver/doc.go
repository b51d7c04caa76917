// Package driver makes servers for the controller of virtual machines.
//
// # Concept
//
// [Interface] is what the controller needs of an engine. There are four drivers, which [New] makes
// by name:
//
//	memory          no servers at all: a map, for tests and demonstrations
//	process         a child process for each server, without root and without an engine; Linux
//	docker, podman  containers, by the command line of the engine
//
// # Guarantees
//
// Every method can be repeated, also after the program was killed inside a call; see [Interface].
// The servers of process, docker and podman outlive the program, and its next run finds them again.
//
// # Goroutines
//
// The process driver has one for each server that it has started itself, which waits for its end.
// The others have none.
//
// # Failure
//
// An unknown name, and an engine that is not installed, are errors of [New]. What cannot be created
// is a [*RefusedError]. A call ends with its context.
//
// # Testing
//
// One contract for all drivers: process with real processes, docker and podman with a stand-in
// program, since tests cannot rely on an engine.
//
// Next: package virtualmachine
package driver
