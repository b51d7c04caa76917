// Package reflector keeps a store equal to a collection on an API server, by listing it once and watching it from
// then on.
//
// # Concept
//
// An API server can say what there is (LIST) and what changes (WATCH, from a version on). Neither is enough alone: a
// list is old when it arrives, and a watch breaks, falls behind the history that the server keeps, or dies without a
// word. The [Reflector] puts the two together and repairs what breaks:
//
//	LIST at "0" ──► store.Replace ──► WATCH from the version of the list ──► store.Add, Update, Delete
//	   ▲                                │  ends in good order, breaks, goes silent:
//	   │                                │  WATCH again from the version of the last event
//	   └── "410 Gone": LIST at "" ◄─────┘
//
// The version it has reached (the resourceVersion; compared only where versions are numbers from one counter, KEP-5504) is its
// position. Most of the package is about when a position can be kept, because a list of everything is dear to both sides.
//
// Which of the two comes next, and when, is decided by a machine without goroutines, clock, network or chance:
//
//	step(state, input) -> (state, effects)
//
// Inputs are answers, events and times that have come; effects are requests, calls of the store and timers. The file
// table.go is all of its behaviour, one transition a line. Around it is a shell, the type Reflector, which owns what the machine
// must not have and decides nothing. The shape is that of etcd's raft package, the five-state watcher of kube-rs is a
// relative. The original in client-go does the same with nested loops. In the article on the controller manager the
// Reflector is the part of the informer's controller that feeds the DeltaFIFO.
//
// The initial state can come as a stream of events as well (KEP-3157, streaming lists): it spares the server a large
// answer. If the server does not do that the state is listed.
//
// # Phases
//
// In every phase Stop leads to Stopped, and ResyncElapsed calls Store.Resync and stays. The rest, from the table:
//
// (generated from the transition table by: go test -run Diagram -update)
//
//	stateDiagram-v2
//	    Idle --> OpeningStream : Start [streaming list wanted]
//	    Idle --> Listing : Start [otherwise]
//	    OpeningStream --> Streaming : Opened
//	    OpeningStream --> OpeningStream : OpenFailed [position refused]
//	    OpeningStream --> BackingOff : OpenFailed [Retry]
//	    OpeningStream --> Listing : OpenFailed [otherwise]
//	    OpeningStream --> OpeningStream : IdleElapsed [the timer was late]
//	    OpeningStream --> Listing : IdleElapsed [otherwise]
//	    OpeningStream --> Listing : DeadlineElapsed
//	    Streaming --> Streaming : Event
//	    Streaming --> Replacing : Bookmark [initial events end]
//	    Streaming --> Streaming : Bookmark [otherwise]
//	    Streaming --> BackingOff : StreamEnded [attempts left]
//	    Streaming --> Listing : StreamEnded [otherwise]
//	    Streaming --> OpeningStream : StreamFailed [position refused]
//	    Streaming --> BackingOff : StreamFailed [Retry, attempts left]
//	    Streaming --> Listing : StreamFailed [otherwise]
//	    Streaming --> Streaming : IdleElapsed [the timer was late]
//	    Streaming --> Listing : IdleElapsed [otherwise]
//	    Streaming --> Listing : DeadlineElapsed
//	    Listing --> BackingOff : PageListed [no resourceVersion]
//	    Listing --> Listing : PageListed [token repeated in pages]
//	    Listing --> BackingOff : PageListed [token repeated]
//	    Listing --> Listing : PageListed [more pages]
//	    Listing --> Replacing : PageListed [otherwise]
//	    Listing --> Listing : ListFailed [token expired]
//	    Listing --> Listing : ListFailed [position refused]
//	    Listing --> BackingOff : ListFailed [otherwise]
//	    Listing --> BackingOff : DeadlineElapsed
//	    Replacing --> Watching : Replaced [from a stream]
//	    Replacing --> OpeningWatch : Replaced [otherwise]
//	    Replacing --> BackingOff : ReplaceFailed
//	    OpeningWatch --> Watching : Opened
//	    OpeningWatch --> BackingOff : OpenFailed [Retry]
//	    OpeningWatch --> BackingOff : OpenFailed [StartFresh]
//	    OpeningWatch --> BackingOff : OpenFailed [otherwise]
//	    OpeningWatch --> OpeningWatch : IdleElapsed [the timer was late]
//	    OpeningWatch --> BackingOff : IdleElapsed [otherwise]
//	    OpeningWatch --> BackingOff : ResyncFailed
//	    Watching --> Watching : Event [not newer than the position]
//	    Watching --> Watching : Event [otherwise]
//	    Watching --> Watching : Bookmark
//	    Watching --> BackingOff : StreamEnded [very short, nothing came]
//	    Watching --> BackingOff : StreamEnded [very short, no progress]
//	    Watching --> OpeningWatch : StreamEnded [short watches, nothing for minutes]
//	    Watching --> OpeningWatch : StreamEnded [otherwise]
//	    Watching --> BackingOff : StreamFailed [Resume, very short, nothing came]
//	    Watching --> BackingOff : StreamFailed [Resume, very short, no progress]
//	    Watching --> OpeningWatch : StreamFailed [Resume, short watches, nothing for minutes]
//	    Watching --> OpeningWatch : StreamFailed [Resume]
//	    Watching --> BackingOff : StreamFailed [Retry]
//	    Watching --> BackingOff : StreamFailed [Internal, budget left]
//	    Watching --> BackingOff : StreamFailed [StartFresh]
//	    Watching --> BackingOff : StreamFailed [otherwise]
//	    Watching --> Watching : IdleElapsed [the timer was late]
//	    Watching --> OpeningWatch : IdleElapsed [otherwise]
//	    Watching --> BackingOff : ResyncFailed
//	    BackingOff --> BackingOff : DelayDrawn
//	    BackingOff --> OpeningWatch : BackOffElapsed [nobody answered, position kept]
//	    BackingOff --> OpeningWatch : BackOffElapsed [position kept]
//	    BackingOff --> OpeningStream : BackOffElapsed [streaming list wanted]
//	    BackingOff --> Listing : BackOffElapsed [otherwise]
//	    BackingOff --> BackingOff : ResyncFailed [position kept]
//
// (end of the generated part)
//
// TRANSITIONS.md beside this file has it as a picture, with the effects and the table of remedies ([RemedyFor]).
//
// # Guarantees
//
//   - Order: the store sees events in the order in which the server sent them. Calls of the store never overlap.
//   - Nothing is lost between list and watch: the watch begins at the version of the list.
//   - A watch always begins at a position, and never at one that the server has refused (410, or too large). After such a
//     refusal the next list is a consistent read at "".
//   - A watch that begins again after nobody has answered, or after a silence, on one watch or for three minutes on several short
//     ones, begins at a position that the server has: a list of one object at that version comes first. Somebody else may answer
//     by then: a cluster whose etcd was restored from a backup is behind, takes watches of the future, and delivers nothing until
//     it has caught up. client-go waits for that; it may take days.
//   - The position moves with every event and bookmark, never back (where versions can be compared), and only after the whole state is in the store.
//   - An event that is not newer than the position (sent twice, or long after its time) is not applied, see Snapshot.Stale.
//     Versions that are no numbers are not compared, nor are those of a server that numbers the changes of each object by itself,
//     as a list shows in which two objects have the same version, or one a greater version than the list.
//   - What is deleted while nobody watches is not seen as a deletion; it is missing from the next Replace. Making a
//     notification of that is the work of the DeltaFIFO.
//   - Objects are handed on as they came. Who receives them must treat them as immutable.
//
// # Goroutines
//
// Run works on the goroutine of its caller and starts one more, which keeps the time; it is over when Run returns. Both
// feed the machine under one mutex, which is held during the calls of store, hooks and error handler and never while
// waiting for the server. Events are pulled from the connection by the goroutine of Run and are in the store when
// it pulls the next one: no channel and no hand-off per event.
//
// Run returns when its context ends: an outstanding request or open watch is cancelled, a call of the store is waited for.
//
// # Failure
//
// Every error is classified by [CauseOf], and [RemedyFor] says what follows: resume at the position at once, retry after a
// back-off, list anew, start fresh, or give a streaming list up. A Reflector never gives up altogether.
//
// Back-off grows from 0.8 s to 30 s, each wait stretched by up to its double, and begins again after health: a
// watch that delivered something or lasted ten seconds. (The original begins again every two minutes, healthy or not.)
// A server's Retry-After is honoured, up to five minutes. The ListerWatcher is asked not to repeat requests by itself
// ([api.WithSingleAttempt]), so that nothing waits for the same thing in two places.
//
// A half-open connection, of which only the other end is gone, gives no error. It is found out
//
//   - by the client, where the protocol has a test of life (HTTP/2 and websocket pings: within 45 s);
//   - by silence on a watch (Config.IdleTimeout): 45 s where there is no such test, 90 s to 3 min where there is;
//   - by the time that opening a watch takes (45 s; 10 s for one that replaces a silent one) and a list (Config.ListTimeout).
//
// Either way the watch goes on at its position. Trace.Zombie counts the connections that were dead. Silence alone is no proof of
// that, and what comes on the next watch is none either: it may have happened just then. A silent watch is counted when it breaks a
// promise of the server. Where connections are not tested each watch is asked for with a limit of 31 to 40 s, so that a healthy one
// ends by itself, with a bookmark just before; one that does not end is dead. On any watch that has had a bookmark, of a
// server whose rhythm is known, a silence of one and a half times that rhythm is too much. And it is counted if the
// server does not answer the next request either. What is believed of a server is forgotten when it was of no use, so one that
// keeps no limits, or stops sending bookmarks, costs one wrong count.
//
// A process that was stopped for a while finds its timers over and what has come unread; it reads that first.
//
// A failed round is told to Config.WatchErrorHandler as [*ListError], [*WatchStartError], [*StreamError] or [*StoreError],
// which wrap the cause. Everything smaller is told to the [Trace]. Panics are nobody's business here: they come out of Run.
//
// # Testing
//
// The machine is tested as a function: every row of the table is reached, every pair of phase and input is accounted for, and
// any sequence of inputs keeps the invariants. The shell is tested against informertest.FakeSource in synctest bubbles; the
// files in testdata are incidents, told as scripts. A program that uses a Reflector can do the same.
//
// Next: package informer
package machine
