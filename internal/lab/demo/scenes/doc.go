// Package scenes has the scenes of the demo, one in each file.
//
// A [Scene] is a script: the requests and faults, what the reader should watch, and what was
// learnt. It does not say what the controller does; the controller's hooks do that. A script waits
// for conditions ([stage.Stage.Await]), never for a fixed time. Such a scene ends when the
// namespace has gone, or with the error of the first request that fails. It starts no goroutine.
//
// A scene on single gears plays alone, without a server, or on a bare stage ([stage.Options]),
// whose informer ends with the stage. It ends the goroutines that it starts itself before it
// returns, and fails if the figures that it has measured are not what it is there to show.
//
// The tests play every scene against the API server in memory in a synctest bubble and assert the
// order of the beats.
package scenes
