// Package stage sets up what a demo plays with: the project's own controller, a few spectators, and somebody who types.
//
// # Concept
//
// Nothing on the stage is made for the demo but the hooks. The namespace controller is wired as "orrery run" does it; the
// bars are drawn by ten more informers, the same gears used as spectators; and whoever creates and deletes things is a
// client like any other. The three have clients of their own, so that their requests can be counted apart and a fault can
// hit one and not the others.
//
//	you ──create, delete──▶ API server ◀──list, watch── spectators ──▶ bars
//	                            ▲
//	                            └──list, watch, empty, finalize── controller ──▶ narration
//
// Every gear has hooks on it (trace.go, meter.go, narrator.go), which change the state of the [story.Teller] and tell
// beats.
//
// # Guarantees
//
// What is told has happened: every beat and every number comes from a hook or from the answer to a request, none from the
// script's belief of what should happen. Waiting times are those of the controller.
//
// # Goroutines
//
// [Open] starts the informers and the controller, [Stage.Close] ends them and returns when the last one has.
//
// # Failure
//
// What goes wrong with the script's own requests is an error of the method. What goes wrong inside the gears is part of the
// show, and is told.
//
// # Testing
//
// The tests of package scenes play each scene on a stage.
//
// Next: package scenes
package stage
