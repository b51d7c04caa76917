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
// The cleanup functions of the test close first the clients, then the server. A handler must return
// when its request's context ends.
//
// [RunEvents] is the contract of a decoder of watch events, for each of its forms.
//
// Next: package restclient
package restclienttest
