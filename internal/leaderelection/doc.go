// Package leaderelection lets one of several replicas work while the others stand by.
//
// # Concept
//
// The replicas share an object on the API server, a Lease (coordination.k8s.io/v1): a name, when it was last renewed, and for
// how long. The one whose name is in it leads, and renews it every two seconds. The others look. When nothing has changed for
// fifteen seconds one of them writes its own name, which the server lets only one of them do: an update carries the version
// that it is built on.
//
//	               try: read, and write if the Lease is free
//	       ┌──────────────────────────────┐
//	       v                              │ held by another: wait for a change, its end,
//	  standing by ────────────────────────┘ or a retry period with jitter
//	       │ written
//	       v          renew every retry period
//	    leading ──────────────────────────┐
//	    │      │  ^                       │
//	    │      │  └───────────────────────┘
//	    │      │ not renewed for the renew deadline, or seen in other hands
//	    │      v
//	    │    lost: the work is cut off, the program ends
//	    │ the work has returned
//	    v
//	released: the name is taken out, and the next one need not wait
//
// The hard part is that nobody can know what the others do, only what they have done. Two rules carry it.
//
// Clocks are not compared. How long ago a Lease was renewed is measured from the moment at which one sees it change, on
// one's own clock, and the times that are written in it are for people. A clock that is an hour wrong does no harm; one
// that runs faster than another does when the ratio reaches lease duration to renew deadline, 15 to 10.
//
// A leader stops by itself, and before the others begin. It counts from the moment before it sent the last renewal that
// went well, since nobody can have seen it earlier: work ends ten seconds after that, others begin at least fifteen seconds
// after. Nothing has to get through for that, no request, no answer; it needs a clock.
//
// The names, fields, rules and defaults are those of client-go's package leaderelection and kube-controller-manager's flags,
// so that programs built with either can contend for the same Lease.
//
// # Guarantees
//
// The contexts of the work of two replicas do not overlap, as long as the server keeps its promise about versions, no clock runs
// half as fast again as another, and nobody deletes the Lease or edits it by hand. After a deletion the leader makes it anew
// at once; who has seen it held waits as long as if it were still there.
//
// With a [Fence] nothing leaves the process either once the lease is over, not even from one that was stopped in the
// middle of a request and goes on a minute later. A context cannot promise that: its timer is one of many things that such a
// process does when it wakes up.
//
// So what waits in this process does not get out: requests behind flow control or behind the limit of streams of an HTTP/2
// connection, repetitions, names that are looked up, connections and handshakes that take their time. All of them end in a write.
//
// A leader that ends in good order is followed within a request or two by those who watch the Lease. One that dies is
// followed when its Lease runs out: those who watch know to the millisecond when it was renewed, and try at that moment.
//
// # What cannot be promised
//
// Nothing that runs here can call back what has left. It may be on its way, before a server that is busy or stopped, in its queue
// (API priority and fairness), in a proxy, and take effect when another one leads. For that there are the five seconds between deadline
// and lease duration; a connection that is broken off has a server drop what it has not begun. If the link is cut it does not hear
// of that, and only its own limit holds (--request-timeout of kube-apiserver, one minute).
//
// Nor can a process be kept from being stopped between the look at the clock and the system call behind it. When it goes on that
// one write gets out: a few kilobytes, at most the end of requests that had been begun.
//
// Nor can it know for how long it was stopped if its clocks were as well, as when a hypervisor pauses a machine, or puts back one that was
// saved. Suspending a machine is noticed, on Linux.
//
// Whoever needs more has the server check. The namespace controller does where it decides something: it finalizes and reports on the
// version of the namespace that it has read, so a late write is a conflict. What it deletes is the content of a namespace that is in
// deletion, where nothing new can be made: twice does no harm. What is left is a deletion that comes so late that the namespace has gone
// meanwhile and somebody has made one of that name.
//
// # Differences to client-go
//
//   - There the work of a leader that cannot renew goes on until the attempt that began at the last moment gives up: up to
//     retry period + renew deadline after the last renewal, and its context is all that ends. Here it ends at the deadline.
//   - There a leader that reads another name in the Lease repeats the attempt until its deadline. Here it stops.
//   - There a Lease that was deleted is free. Here it is when it would have run out.
//   - There those who stand by ask the server now and then, and try when the answer comes after the end. Here they also watch.
//   - Here a leader that was told to stop goes on renewing until the work has returned. There it releases, and the work
//     finds out.
//   - Lease durations are rounded up to seconds, not down. preferredHolder and strategy are left as they are.
//
// # Goroutines
//
// [Elector.Run] renews on the caller's goroutine. It starts one for the work and one or two for the watch, and returns when all
// of them have ended. Timers of the work's context are stopped by then.
//
// # Failure
//
// An attempt that fails is repeated, for ever by those who stand by, until the deadline by the leader: by them a retry period with
// jitter after its end, by the leader a retry period after its beginning, which is at once if it took longer. So a leader keeps
// its Lease on a server that takes up to half the deadline for an answer. An
// attempt that gets no answer has the connection replaced, since it may be half-open. If the very first answer
// says that this user may not take part, Run ends with an [*AccessError]: nothing else would ever be heard of it. A lease that
// is lost ends Run with a [*LostError], and should end the process: a new one begins with clean hands.
//
// # Testing
//
// The rules are a pure state machine (candidate), which is driven through random interleavings of requests, lost answers,
// pauses and clocks of different speed, with the check that no two ever work at the same time; with clocks that differ too
// much the same test finds two. The shell is tested in synctest bubbles over the built-in API server, and with client-go
// and real processes in upstream/e2e.
//
// Next: package controllers
package leaderelection
