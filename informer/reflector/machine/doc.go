// Package machine is the form of the reflector for production: the list and watch of package
// reflector as a table of transitions, with a recovery action for every failure.
//
// # Concept
//
// A machine without goroutines, clock, network or random numbers decides what happens next, and
// when:
//
//	step(state, input) -> state, effects
//
// An input is an answer, an event or a timer. An effect is a request, a call of the store or a
// timer. The file table.go is the complete behaviour, one transition a line. Around the machine is
// a shell, the type [Reflector], which owns the goroutines, the connection and the store, and makes
// no decisions. The design is that of etcd's raft package and is related to kube-rs' watcher, which
// has five states. client-go does the same with nested loops.
//
// Unlike the textbook form it
//
//   - gets the initial state as a stream (KEP-3157) if the server supports it, which spares the
//     server a large answer;
//   - replaces a watch whose connection is dead without an error;
//   - verifies the position when the server did not answer: one whose etcd was restored from a
//     backup may be behind it;
//   - bounds the wait for a list;
//   - keeps the schedule of resyncs in all cases.
//
// A row of the table says: in this phase, on this input, if this condition holds, do this and enter
// that phase. Of several rows with the same phase and input, the first whose condition holds is
// taken. An input without a row changes nothing: it is a timer or an answer that belongs to an
// earlier phase.
//
// TRANSITIONS.md beside this file is generated from the table, by go test -run Diagram -update: a
// diagram of the phases, the rows with their effects, and the recovery actions.
//
// # Guarantees
//
// Those of package reflector, and:
//
//   - A watch that is reopened after the server was unreachable or silent, or after three minutes
//     without events and keepalive, begins at a position that the server has reached: a list of one
//     object at that version comes first. A server restored from a backup accepts a watch from a
//     future resourceVersion and sends nothing until it has caught up. client-go waits for that,
//     possibly for days.
//
// # Goroutines
//
// Run uses the goroutine of its caller and starts one more, which fires the timers and has ended
// when Run returns. Both feed the machine under one mutex. It is held during the calls of store,
// hooks and error handler, and not while Run waits for the server.
//
// # Failure
//
// [reflector.CauseOf] classifies an error; with the phase it decides what follows. A
// Reflector never gives up. A connection whose other end is gone gives no error. It is detected
//
//   - by the client's keepalive (HTTP/2 and websocket pings: within 45 s);
//   - by the idle timeout of a watch (Config.IdleTimeout): 45 s without keepalive, 3 min with it;
//     actions.go has the reasons;
//   - by the time that opening a watch takes (45 s; 10 s after a silent one) and a list
//     (Config.ListTimeout).
//
// A panic on the goroutine of the timers continues in Run as a [*wait.Panic] with its stack; any
// other panic is unchanged.
//
// # Testing
//
// The machine is tested as a function: tests check its invariants after random inputs, and against
// a server with every kind of fault. TRANSITIONS.md shows every row. The shell is tested in
// synctest bubbles, by the suite of package reflectortest and by the scripts in testdata, which
// reproduce incidents.
//
// Next: package informer
package machine
