// Package chaos lets everything go wrong at once, for ten minutes, and then looks whether anything was lost.
//
// # Concept
//
// Every part of this project has tests that break one thing. What breaks in a cluster breaks together: the link dies while
// the server restarts, and what it comes back with is a history that begins after the position that everybody wants to
// resume from. No list of cases has all of those. So a seed decides:
//
//	seed ──▶ Plan ── storms ──▶ world ── quiet points ──▶ Report
//	         who takes part,    the built-in server,      equal? complete?
//	         what happens when  links, processes          nothing left?
//
//	writers ──▶ store ◀── server ◀── link ── client ◀── informers ── handlers
//	            │          │          │                 namespace controller
//	            │          │          └ cut, black hole, stalled, slow, dripping, half-closed, corrupt, refused
//	            │          └ restarted, 429, 500, 503, 410, 403, stale, late, repeated and missing events
//	            └ journal: what really happened
//
// NewPlan draws everything from the seed before anything runs, each actor with dice of its own. play carries the plan out in
// a testing/synctest bubble: the clock is virtual, connections are pipes, and ten minutes take half a second. After each
// storm the faults end, and within some minutes of virtual time everything has to be as the server has it; at the end all
// deletions have to be over, and nothing may be left.
//
// All of it is a test: nothing but the tests of this package uses it, and its files are called so.
//
// # Guarantees
//
// What is checked, against the journal of the store and not against what a client was told:
//
//   - Every informer's store equals the server, in versions and in content.
//   - Every handler has seen, key by key, a history that makes sense (no addition of what is there, no update of what is not, each
//     step from the state that was told last, never back in time, nothing that the server never had, nothing of an
//     object after its deletion) and that ends in the state of the server. A deletion that was missed is missing there.
//   - No key of the queue is with two workers, and no namespace in two passes.
//   - No namespace lost the controller's token while something was in it.
//   - Queues and backlogs are empty when nothing happens any more, and the rate limiter has forgotten what it counted.
//   - In the end no connection, request, watch, goroutine or timer is left.
//
// The plan is the same whenever the seed is. The run is not, to the last detail: which of two goroutines that are ready runs
// first, the order of maps, and the jitter of back-offs and watches are the runtime's. One processor (GOMAXPROCS=1) and one
// run at a time keep that little.
//
// # Goroutines
//
// play returns when all goroutines of the run have ended; that is one of the things that it checks. Checking it needs a process
// in which nothing else happens.
//
// # Failure
//
// A Report with a Failure says when it was noticed and what was not as it has to be. TestSeeds, which "make chaos-virtual" runs for
// many seeds, prints it with the steps of the plan up to then and the command that plays the seed again. A run that panics or
// never ends takes the test with it.
//
// # Testing
//
// A checker that cannot fail is worth nothing. So the tests of this package break a subject on purpose (an informer that loses a
// deletion, a handler that is told twice, a deleter that finalizes early, a queue that hands a key out twice, a
// goroutine that stays behind) and expect the checker to say so.
//
// Next: package upstream/chaos
package chaos
