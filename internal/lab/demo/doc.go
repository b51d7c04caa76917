// Package demo shows the whole pipeline at work: an API server, the controller, and a scripted scene in one process.
//
// # Concept
//
//	scenes    what is done to the server
//	  stage     controller, spectators and script, with hooks on every gear
//	    story     what has happened, and how things stand
//	  display   how that looks
//
// [Run] puts them together: it starts the server of package apiserver on the loopback interface, opens a stage on it,
// plays a scene while a display draws it, and prints the summary.
//
// # Guarantees
//
// The terminal is given back as it was, however the demo ends: [Curtain.Fall] does it at any moment, and Run does it in any
// case. A demo leaves nothing behind on the machine.
//
// # Goroutines
//
// All of them have ended when Run returns.
//
// # Failure
//
// A server that cannot listen is a *[net.OpError]; an unknown scene a [*scenes.UnknownError]; a request of the script that is
// refused, an error that says what it was for. The end of the context is no error: the demo ends in good order and says so.
//
// # Testing
//
// Package scenes plays the scenes; the test here runs the whole once over sockets, and stops it in the middle.
//
// Next: package democmd
package demo
