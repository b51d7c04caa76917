// Package story holds what a demo has to show: the events so far and the current state.
//
// The gears report through trace hooks, from many goroutines, hundreds of times a second; a display
// draws a few times a second. Between them stands the [Teller]: hooks change its [State] and add
// [Beat]s, one sentence each, and a display takes a copy of the state when it draws.
//
//	hooks ──Update, Tell──▶ Teller ──State()──▶ display
//	                          ▲
//	scene ──────Await─────────┘
//
// Beats are in the order of the calls, with non-decreasing times. A Teller may be used from any
// goroutine, starts none, and never fails. It removes control codes from all texts.
package story
