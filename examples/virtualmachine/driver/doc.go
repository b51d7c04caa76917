// Package driver creates servers for the controller of virtual machines.
//
// # Concept
//
// [Interface] is what the controller needs from an engine. [New] returns one of four drivers by
// name:
//
//	memory          no servers at all: a map, for tests and demonstrations
//	process         a child process for each server, without root and without an engine; Linux
//	docker, podman  containers, by the command line of the engine
//
// # Guarantees
//
// Every method is idempotent, also after the program was killed during a call; see [Interface]. The
// servers of process, docker and podman outlive the program, and its next run finds them again. So
// do those of memory with a state directory.
//
// # Goroutines
//
// The process driver has one for each server that it has started itself, which waits for its end.
// The other drivers have none. [WatchHealth] works in the goroutine that calls it.
//
// # Failure
//
// [New] fails for an unknown name. An engine that is not installed, or does not answer, fails each
// call, and Ping. What can never be created is a [*RefusedError]. A call ends with its context.
//
// # Testing
//
// One contract suite runs on all drivers: on process with real processes, on docker and podman with
// a stand-in program, since tests cannot rely on an engine.
//
// Next: package virtualmachine
package driver
