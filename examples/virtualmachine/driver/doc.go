// Package driver creates servers for the controller of virtual machines.
//
// # Concept
//
// [Interface] is what the controller needs from an engine. [New] returns one of two drivers by
// name:
//
//	memory          no servers at all: a map, for tests and demonstrations
//	process         a child process for each server, without root and without an engine; Linux
//
// The article's driver runs containers with Docker.
//
// # Guarantees
//
// Every method is idempotent, also after the program was killed during a call; see [Interface]. The
// servers of process outlive the program, and its next run finds them again. So do those of memory
// with a state directory.
//
// # Goroutines
//
// The process driver has one for each server that it has started itself, which waits for its end.
// The memory driver has none.
//
// # Failure
//
// [New] fails for an unknown name, and for a command that is not installed. What can never be
// created is a [*RefusedError]. A call ends with its context.
//
// # Testing
//
// One contract suite runs on both drivers: on process with real processes.
//
// Next: package virtualmachine
package driver
