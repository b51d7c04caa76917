// Package leaderelection lets one of several replicas work while the others stand by.
//
// # Concept
//
// The replicas share an object on the API server, a Lease (coordination.k8s.io/v1). It holds the
// name of its holder, the time of the last renewal, and how long a renewal lasts. The holder leads
// and renews every two seconds. The others watch. When the Lease has not changed for fifteen
// seconds, one of them writes its own name. Only one such write succeeds, because an update carries
// the resourceVersion that it is based on.
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
//	released: the holder is removed, and the next candidate need not wait
//
// No replica can know what the others do, only what they have done. Two rules follow from that.
//
// Clocks are not compared. A candidate measures how long a Lease has been silent on its own clock,
// from the moment it saw the Lease change; the times written in it are for people. A clock that is
// an hour wrong does no harm. A clock that runs faster than another does harm when the ratio
// reaches lease duration to renew deadline, 15 to 10.
//
// A leader stops by itself, before the others begin. It counts from just before it sent its last
// successful renewal, because no other replica can have seen that renewal earlier. Its work ends
// ten seconds after that moment, and the others begin at least fifteen seconds after it. The leader
// needs no request and no answer for this, only a clock.
//
// Names, fields, rules and defaults are those of client-go's package leaderelection and
// kube-controller-manager's flags, so programs built with either can contend for the same Lease.
//
// # Guarantees
//
// The contexts of the work of two replicas do not overlap as long as
//
//   - the server keeps its promise about versions,
//   - no clock runs half as fast again as another, and no machine is suspended,
//   - and the Lease is neither deleted nor edited by hand.
//
// After a deletion the leader creates the Lease again at its next renewal. A replica that has seen
// it held waits as long as if it were still there.
//
// Linux's monotonic clock stands still while a machine is suspended. A leader that resumes counts
// on its lease until its next renewal, which follows within a retry period and is refused if
// another replica leads.
//
// With a [Fence], nothing leaves the process after the lease is over, even if the process was
// stopped in the middle of a request and continues a minute later. A context cannot promise that:
// its timer is one of many things that such a process does when it wakes up. The fence also stops
// requests that wait in this process for flow control, for a free HTTP/2 stream, for a repetition,
// a DNS lookup, a connection or a handshake. All of them end in a write.
//
// When a leader ends in good order, a replica that watches the Lease follows within a request or
// two. When a leader dies, the others follow when its Lease runs out: they know to the millisecond
// when it was renewed, and try at that moment. A replica that stops while its first write is under
// way waits for the answer, and releases the Lease.
//
// # What cannot be promised
//
// A request that has left cannot be called back. It may wait in the network, in a proxy, or in the
// queue of a busy server (API priority and fairness), and take effect when another replica leads.
// The five seconds between renew deadline and lease duration are for that. Closing the connection
// makes the server drop what it has not begun. If the link is cut, the server does not notice, and
// only its own limit holds (--request-timeout of kube-apiserver, one minute).
//
// A process can be stopped between the look at the clock and the system call that follows. When it
// continues, that one write gets out: a few kilobytes, at most the end of requests that had been
// begun. A process cannot know how long it was stopped if its clocks were stopped as well, as when
// a hypervisor pauses a machine or restores a saved one.
//
// A program that needs more must let the server check. The namespace controller does so where it
// decides something: it finalizes and reports on the version of the namespace that it has read, so
// a late write is a conflict. What it deletes is the content of a terminating namespace, where
// nothing can be created, so deleting twice does no harm. One case remains: a deletion so late that
// the namespace has gone and a new one of that name exists.
//
// # Differences from client-go
//
//   - There, the work of a leader that cannot renew continues until the last attempt gives up: up
//     to retry period + renew deadline after the last renewal, and only its context ends. Here it
//     ends at the deadline.
//   - There, a leader that reads another name in the Lease retries until its deadline. Here it
//     stops.
//   - There, a deleted Lease is free. Here it is free when it would have run out.
//   - There, a standby polls. Here it watches, and polls only if it may not.
//   - Here, a leader that is stopping renews until the work has returned. There it releases the
//     Lease, and the work finds out.
//   - Here, lease durations are rounded up to seconds, not down. preferredHolder and strategy are
//     left as they are.
//
// # Goroutines
//
// [Elector.Run] stands by and renews on the caller's goroutine. It starts one for the work, and
// returns when that has ended.
//
// # Failure
//
// A failed attempt is repeated: by a standby forever, a jittered retry period after its end; by the
// leader until its deadline, a retry period after its beginning, which is at once if it took
// longer. So a leader keeps its Lease on a server that needs up to half the deadline for an answer.
// An attempt without an answer has the connection replaced, because it may be half-open.
//
// If the server forbids this user six attempts for a request that it never allowed, or the
// namespace is missing, Run returns an [*AccessError]. Fewer refusals prove nothing: kube-apiserver
// forbids everything for a moment while it starts. A user who may read and not write stands by, and
// fails when the Lease is free. A lost lease makes Run return a [*LostError], and should end the
// process: a new process starts from a clean state.
//
// # Testing
//
// The rules are a pure state machine (candidate). Tests drive it through random interleavings of
// requests, lost answers, pauses and clocks of different speed, and check that no two candidates
// work at the same time; with clocks that differ too much the same test finds two. The shell around
// it is tested in synctest bubbles over the API server in memory, and with client-go and real
// processes in upstream/e2e.
//
// Next: package controller/manager
package leaderelection
