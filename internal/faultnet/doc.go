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
// # Guarantees
//
// Faults apply to connections that are open and to those that come later, except those that happen at a moment (Cut,
// HalfClose). Close and deadlines work on a connection whatever its faults.
//
// # Goroutines
//
// A Link starts none. A Proxy has one that accepts and two for each connection; Close ends and awaits them.
//
// # Failure
//
// A connection that was cut fails with ECONNRESET in both directions, one that is refused with ECONNREFUSED.
//
// # Testing
//
// Each fault is tested over pipes in a bubble and over loopback.
//
// Next: package orrery/internal/chaos
package faultnet
