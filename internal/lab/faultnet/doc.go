// Package faultnet breaks connections the way networks do.
//
// # Concept
//
// A [Link] holds the faults of a set of connections. Wrap what the connections come from, [Link.Dial] or
// [Link.Listener] (or a single one with [Link.Conn]), and then break and heal them while they are in use.
//
//	var link faultnet.Link
//	client, err := restclient.New(restclient.Config{Host: server, Dial: link.Dial(dialer.DialContext)})
//	link.BlackHole(true) // from now on nothing arrives, and no error says so
//	link.Heal()
//
// Over a [Pipe] all of it works inside a testing/synctest bubble, where an hour of silence takes no time. In front of a
// real server a [Proxy] does the same to TCP connections, without looking into them: TLS stays end to end.
//
// What a fault does to a connection is told at each method of Link. All of them concern what is received, on the side that
// holds the wrapped end; only a black hole takes what is sent as well. To hurt the other direction wrap the other end.
//
// # Guarantees
//
// Faults apply to connections that are open and to those that come later, except those that happen at a moment ([Link.Cut],
// [Link.HalfClose]). Close and deadlines work on a connection whatever its faults. Bytes that arrive do so in order and
// without a gap: a connection that has lost some never delivers any again, as TCP would have it.
//
// # Goroutines
//
// A connection has one, which reads ahead and ends when the connection is closed, cut, or at its end. A Proxy has one that
// accepts and two for each connection besides; [Proxy.Close] ends them and waits for them. Waiting is on sync.Cond,
// channels and timers only.
//
// # Failure
//
// A connection that was cut fails with ECONNRESET at both ends, one that is refused with ECONNREFUSED, or, where a listener
// or a proxy refuses it, with ECONNRESET. A dial into a black hole fails with ETIMEDOUT.
//
// # Testing
//
// Each fault is tested over pipes in a bubble, with the race detector, and over TCP on the loopback interface.
//
// Next: package internal/lab/chaos
package faultnet
