// Package demo shows the whole pipeline at work: an API server, the controller and a scripted scene
// in one process.
//
//	scenes      what happens to the server
//	  stage     controller, spectators and script, with hooks on every gear
//	    story   the events so far and the current state
//	  display   drawing
//
// [Run] starts the server of package apiserver on the loopback interface, opens a stage on it,
// plays a scene while a display draws it, and prints a summary. When it returns, all goroutines
// have ended, the terminal is restored, and nothing is left on the machine. [Curtain.Fall] restores
// the terminal at any other moment.
//
// Errors: a *[net.OpError] if the server cannot listen, a [*scenes.UnknownError] for an unknown
// scene, and an error that names the step if a request of the script fails. The end of the context
// is not an error.
package demo
