// Package hostcheck keeps web pages away from servers that ask for no credentials.
//
// # Concept
//
// A page in a browser can have its own name point to 127.0.0.1 (DNS rebinding). The browser then lets the page read what a
// server of this machine answers. Such a request still names the page's host: [Guard] refuses it.
//
// # Guarantees
//
// A request passes if its Host is a loopback name or address, or an address that the server was told to listen on. If that
// is every address of the machine, each IP address passes, and names that exist only inside a cluster: no page has one. If
// there is an Origin, it must be the server itself.
//
// # Goroutines
//
// None. The handler may be called from any goroutine.
//
// # Failure
//
// A refusal is 403 and one sentence that says which name to use.
//
// # Testing
//
// A table of hosts and origins, and both servers that use it are asked under a wrong name.
//
// Next: package debugserver
package hostcheck
