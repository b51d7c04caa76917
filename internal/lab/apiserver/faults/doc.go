// Package faults makes an API server misbehave on demand.
//
// # Concept
//
// A controller is judged by what it does when the server is slow, forgets its history, refuses, or says nothing at
// all. None of that can be ordered from a healthy server, so the built-in one carries a [Set] of faults and asks it at
// the places where a real server fails:
//
//	request ──▶ Authorize ──▶ Before ──▶ Admit, Conflict ──▶ store
//	            403           429, 500,  403, 500, 409
//	                          503, slow
//	list, get ─▶ Lag           an answer from the past
//	next page ─▶ ExpiresContinue  410
//	watch ─────▶ Silent        a connection that is open and says nothing
//	             Holds, Withholds, Interrupts, Repeats   late, missing, broken and old news
//	discovery ─▶ Unavailable   a group that is announced and does not answer
//
// A fault is a line of text, kind:option=value,..., the same on the command line (--fault), in the debug endpoint and
// in a test: see [Catalogue] for the kinds and [Set.Add] for the grammar. Every kind exists because it teaches
// something that happens in real clusters; [Kind] says what.
//
// # Guarantees
//
// The same faults and the same requests in the same order give the same result: shares are decided by a generator with
// a seed. A fault that is used up (count), past its time (for) or removed does nothing any more, from that moment on.
// Refusals have the reason, code and words of the real server.
//
// # Goroutines
//
// A Set may be used from any number of goroutines. It starts none; repeated actions run on timers, which Stop ends.
//
// # Failure
//
// A line that cannot be understood is a [*SyntaxError] which says what would be.
//
// # Testing
//
// The Set is data and a clock: in a synctest bubble faults expire in no time.
//
// Next: package apiserver.
package faults
