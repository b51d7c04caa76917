// Package credentials proves to an API server who is asking.
//
// # Concept
//
// A request can prove its origin by a header (a bearer token, a user name with a password), by the certificate shown in
// the TLS handshake, or both. What proves it may change while a program runs for months: the kubelet writes a new
// service account token every hour, cert-manager replaces a certificate, a cloud's plugin hands out tokens for fifteen
// minutes. Each type here is one way to come by the proof, and implements [restclient.Credentials]:
//
//	NewToken            a token that stays the same
//	NewTokenFile        a token in a file that is written anew: read again each minute
//	NewExec             what an exec plugin prints, until it expires
//	NewCertificate      a client certificate, inline or from files that are read again at each handshake
//	NewBasic            a user name and a password
//	&Impersonation{}    "treat this request as somebody else's"
//	Join                several of them together
//
// Package restclient/kubeconfig makes the right ones from a kubeconfig.
//
// # Guarantees
//
// Tokens and passwords are sent over https, or over plain http to this very machine ([Allowed] holds the rule); otherwise
// the request fails with an [*InsecureTransportError]. Nothing secret is part of an error or of what fmt prints for these
// types.
//
// After a 401 the proof that was refused is dropped, and no other: a slow answer to an old token does not cost the new
// one. The next request reads the file or runs the plugin again. Package restclient repeats the refused request itself
// once, if that yields something new.
//
// A client certificate is renewed when the pointer that ClientCertificate returns changes. Since connections live for
// hours and the server checks a certificate only when a connection is made or, once it has expired, refuses each
// request on it, package restclient compares pointers once in TLS.CheckInterval and sends new requests over new
// connections after a change. Requests and watches under way stay where they are (client-go cuts them off).
//
// Proofs that cannot be renewed just now stay in use: the last token read while its file is unreadable, the last pair
// of certificate and key while the two files do not fit together.
//
// # Goroutines
//
// None of its own, except for [Exec]: a run of the plugin has one, shared by all requests that wait for it, and it ends
// with the run. A run for which no request waits any more is killed.
//
// # Failure
//
// Construction checks what can be checked: files exist and parse ([*FileError]), the plugin's
// configuration makes sense ([*ExecError]). Later errors of Apply reach the caller of a request inside a
// restclient.TransportError.
//
// # Testing
//
// The tests of the exec protocol run the test binary as the plugin; time passes in synctest bubbles.
//
// Next: package restclient/kubeconfig
package credentials
