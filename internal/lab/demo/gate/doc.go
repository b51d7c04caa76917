// Package gate holds a run of the laboratory at its gates, and lets single items through.
//
// # Concept
//
// A gate is a decorator on a seam between two gears. While it is closed, items wait in front of it,
// and everything else goes on: timers, producers, other gates. Hooks cannot be gates, because some
// of them run under locks.
//
//	gate  holds                              decorates
//	G1    a decoded watch event              reflector.ListerWatcher
//	G2    the next pop of the delta queue    the informer's queue, which pops one key at a time then
//	G3    what is stored, not distributed    the informer's processor
//	G4    a handler call                     the handler, by informer.Config.WrapHandler
//	G5    a key for a worker, after Get      the work queue
//	G6    a request to the API server        ListerWatcher, and the clients of the deleter
//	G7    a key before Done                  the work queue
//
// [New] returns the gates of a run, all open. A run is wired with them where it makes its gears:
//
//	gates := gate.New(ctx, recorder)
//	source, config = gate.Informer(gates, source, config)        // G1 G2 G3 G4 G6
//	work.NewQueue = gate.NewQueue(gates, "queue", work.NewQueue) // G5 G7
//	deleter = gate.Deleter(gates, deleter)                       // G6
//	err := gates.Wait(ctx, gate.Item{Gate: gate.G6, ...})        // G6, before any other request
//
// Nil gates change nothing: each of these returns what it was given. A controller with gates has no
// time limit for a pass and none for a silent watch, since an item may wait for an hour.
//
// A script or a page then moves the items:
//
//	gates.Close(gate.G2, gate.Condition{})  // hold every item; a Condition holds those that meet it
//	gates.Await(ctx, gate.G2, 1)            // until one item waits
//	gates.Step(gate.G2)                     // let the oldest one through
//	gates.RunTo(condition)                  // all gates open, until an item meets the condition
//	gates.Open(gate.G2)                     // let all of them through
//	gates.Release()                         // open every gate
//
// A guided scene ([Guide]) asks its reader a question and reveals the answer later. A [Session] is
// one run of it: [Session.Ask] waits for the choice that the page sends. Until then the gates are
// the scene's.
//
// # Guarantees
//
// No lock of a gear is held while an item waits, with any form of the gears, and its producers
// never wait. The textbook's processor distributes under the informer's lock: G3 keeps what it is
// given, and passes it on when the informer has left that lock. A gate passes items in their order.
// Gates open for good when the run's context ends, and an item stops waiting when what it belongs
// to ends: its watch, its informer, its queue, its request.
//
// What a script or a page does to the gates is an input of the recording.
//
// The recording has lab.held for each item that waits, lab.stepped for each that goes on alone, and
// lab.released for each gate that was opened.
//
// # Goroutines
//
// Gates start none. Waiting items block goroutines of the gears.
//
// # Failure
//
// Wait returns the cause of its context if that ends first.
//
// # Testing
//
// The tests hold, step and release an item at each gate, in virtual time, with every form of the
// gears, and use the gears from other goroutines meanwhile. Those of package demo play every guided
// scene.
package gate
