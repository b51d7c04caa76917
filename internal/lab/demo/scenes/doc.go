// Package scenes holds the scenes of the demo, one a file.
//
// # Concept
//
// A [Scene] is a script of a page: what is done to the server and when, what is going to happen, what to look at, and what
// was learnt. It says nothing about what the controller does: that is told by the controller itself, through its hooks. A
// script waits for things to happen ([stage.Stage.Await]), never for a time after which they should have.
//
// # Guarantees
//
// A scene ends with the namespace gone, on any machine, or with an error. What it says at the end was seen in the story that
// it ends: the tests assert it.
//
// # Goroutines
//
// A scene plays on the caller's goroutine and leaves none behind.
//
// # Failure
//
// The first request of the script that fails ends the scene with an error that says what it was for.
//
// # Testing
//
// scenes_test.go plays every scene against the built-in server in a synctest bubble, over pipes, so that twenty seconds
// take a moment, and asserts facts: the order of what was told, never its time.
//
// Next: package demo
package scenes
