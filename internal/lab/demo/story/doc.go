// Package story holds what a demo has to tell: what has happened so far, and how things stand.
//
// # Concept
//
// The gears of a controller report through trace hooks, from many goroutines, hundreds of times a second. A display shows
// a page now and then. Between them stands the [Teller]: hooks change its [State] (counters, bars, what waits) and tell
// [Beat]s (a sentence each), and a display takes a copy whenever it wants to draw one.
//
//	hooks ──Update, Tell──▶ Teller ──State()──▶ display
//	                          ▲
//	scene ──────Await─────────┘
//
// # Guarantees
//
// Beats are in one order, that in which they were told, and their times do not go back. A State is a copy: it belongs to
// who asked for it and does not change.
//
// # Goroutines
//
// A Teller may be used from any goroutine and starts none. Its methods are quick, as hooks have to be.
//
// # Failure
//
// Nothing here fails. Text from outside is made harmless for terminals.
//
// # Testing
//
// The tests of package scenes assert what was told.
//
// Next: package display
package story
