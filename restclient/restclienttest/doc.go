// Package restclienttest lets tests speak to an API server that is a function.
//
// # Concept
//
// [NewServer] runs a real net/http server around a handler, but its connections are pipes in memory
// (like net.Pipe, with a buffer) and not sockets. Everything above the connection is what a program
// uses: HTTP, TLS, websockets, the client of package restclient. Because there is no socket, the
// whole exchange can happen inside a testing/synctest bubble, where an hour of idle watch takes no
// time.
//
//	synctest.Test(t, func(t *testing.T) {
//		server := restclienttest.NewServer(t, handler)
//		client := server.Client()
//		...
//	})
//
// [ServeWatch] answers a watch over whichever transport the client asked for.
// [Server.CloseConnections], [Server.Silence] and [Server.Refuse] are the faults that networks
// have.
//
// [RunEvents] is the contract of a decoder of watch events, for each of its forms.
//
// # Guarantees
//
// A server records each request before the handler sees it. Certificates from [NewAuthority] are
// valid from an hour before they are made, by the clock of the bubble.
//
// # Goroutines
//
// Those of net/http. The cleanup functions of the test end them: first the clients are closed, then
// the server. A handler must return when its request's context ends.
//
// # Failure
//
// What cannot be set up fails the test.
//
// # Testing
//
// The tests of package restclient are this package's tests; its own show the faults.
//
// Next: package restclient
package restclienttest
