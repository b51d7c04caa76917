// Package stage sets up the demo: the namespace controller, ten spectators and a script, all
// clients of one API server.
//
//	you ──create, delete──▶ API server ◀──list, watch── spectators ──▶ bars
//	                            ▲
//	                            └──list, watch, empty, finalize── controller ──▶ narration
//
// The controller is wired as in "orrery run", with hooks on every gear (trace.go, meter.go,
// narrator.go) that change the state of the [story.Teller] and tell beats. The spectators are
// informers that draw the bars. Each of the three has its own client, so that requests are counted
// separately and a fault can affect one of them. Every beat and every number comes from a hook or a
// response, never from the script's expectation.
//
// A bare stage ([Options]) has a server and clients alone; a scene adds the informers that it is
// about.
//
// [Open] starts the informers and the controller. [Stage.Close] stops them and returns when all
// have ended. A failed request of the script is an error of its method; a failure inside the gears
// is part of the story.
package stage
