// Package machine is the form of the reflector that production needs: the list and watch of package reflector as a table of
// transitions, with a recovery for every failure.
//
// # Concept
//
// What comes next, and when, is decided by a machine without goroutines, clock, network or chance:
//
//	step(state, input) -> state, effects
//
// An input is an answer, an event or a time that has come. An effect is a request, a call of the store or a timer. The file table.go is all
// of the behaviour, one transition a line; there is no way around it. Around the machine is a shell, the type [Reflector], which owns
// the goroutines, the connection and the store, and decides nothing. The design is that of etcd's raft package; the watcher of
// kube-rs, with five states, is a relative. client-go does the same with nested loops.
//
// Beyond the textbook form it
//
//   - gets the initial state as a stream (KEP-3157) if the server does that, which spares the server a large answer;
//   - replaces a watch whose connection is dead without an error;
//   - verifies the position after the connection was lost: a server whose etcd was restored from a backup is behind it;
//   - skips stale events, which a proxy or a watch cache has sent before;
//   - keeps the position for a while over internal errors of the server, and never waits for a list without a limit;
//   - keeps the beat of resyncs, whatever else happens.
//
// # Reading the table
//
// A row says: in this phase, on this input, if this condition holds, do this and go to that phase. Several rows with the same phase and
// input are alternatives; the first one whose condition holds is taken. An input without a row changes nothing: it is a timer or an
// answer that the phase before has given up.
//
// TRANSITIONS.md beside this file is drawn from the table, by go test -run Diagram -update: a diagram of the phases, with each condition in
// brackets; the rows with their effects; and the recovery actions ([RecoveryFor]). In every phase Stop leads to Stopped, and ResyncElapsed
// calls Store.Resync and stays; the diagram leaves both out.
//
// # Guarantees
//
// Those of package reflector, and:
//
//   - A watch that is opened again after its connection was lost or it was silent, or after three minutes without news, begins at a
//     position that the server has reached: a list of one object at that version comes first. That list waits for the client's
//     rate limiter like any other; the time it waits there does not count against the server. A server restored from a backup accepts
//     watches of the future and delivers nothing until it has caught up. client-go waits for that, possibly for days.
//   - The position never goes back, where versions can be compared: numbers from one counter (KEP-5504). The store is told of no
//     older bookmark.
//   - A stale event, whose version is not newer than the position, is not applied; Snapshot.Stale counts it. Versions are not compared if they
//     are no numbers, or if a list has shown that the server counts the changes of each object.
//
// # Goroutines
//
// Run works on the goroutine of its caller and starts one more, which fires the timers and has ended when Run returns. Both
// feed the machine under one mutex. It is held during the calls of store, hooks and error handler, and not while Run waits
// for the server. The goroutine of Run pulls an event from the connection and has it in the store before it pulls the next one.
//
// # Failure
//
// [reflector.CauseOf] classifies an error, and [RecoveryFor] says what follows: resume at the position at once, retry after a
// back-off, list anew, start fresh at "", or fall back from a streaming list to a list. A Reflector never gives up.
//
// A connection whose other end is gone gives no error. It is noticed
//
//   - by the client's keepalive (HTTP/2 and websocket pings: within 45 s);
//   - by the idle timeout of a watch (Config.IdleTimeout): 45 s without keepalive, 90 s to 3 min with it;
//   - by the time that opening a watch takes (45 s; 10 s after a silent one) and a list (Config.ListTimeout).
//
// Without keepalive the server is asked to end each watch before the idle timeout, so that a quiet watch ends in good order. A
// process that was suspended finds its timers late; it reads first what has come meanwhile.
//
// A panic on the goroutine of the timers comes out of Run as a [*wait.Panic], which has the stack, any other one as it is.
//
// # Testing
//
// The machine is tested as a function: every row of the table is reached, every pair of phase and input is accounted for, and
// any sequence of inputs keeps the invariants. The shell is tested against informertest.FakeSource in synctest bubbles, by the suite
// of package reflectortest and by the files in testdata, which are incidents told as scripts.
//
// Next: package informer
package machine
