// Package credentials authenticates requests to an API server.
//
// # Concept
//
// A request is authenticated by a bearer token, by the certificate shown in the TLS handshake, or
// both. Credentials may change while a program runs for months: the kubelet writes a new service
// account token every hour, cert-manager replaces a certificate, a cloud's plugin issues tokens for
// fifteen minutes. Each type here implements [restclient.Credentials]:
//
//	NewToken            a token that stays the same
//	NewTokenFile        a token in a file that is rewritten; it is read again each minute
//	NewExec             the output of an exec plugin, until it expires
//	NewCertificate      a client certificate, inline or from files that are read again at each handshake
//	&Impersonation{}    requests are made as another user
//	Join                several of these together
//
// Package restclient/kubeconfig creates them from a kubeconfig.
//
// # Guarantees
//
// Tokens are sent over https, or over plain http to the same machine (see [Allowed]); otherwise the
// request fails. No secret appears in an error or in the output of fmt for these types.
//
// After a 401 only the refused credentials are dropped: a slow answer to an old token does not drop
// the new one. The next request reads the file or runs the plugin again. Credentials that cannot be
// renewed yet stay in use.
//
// Package restclient looks for a new client certificate once a minute and sends new requests over
// new connections after a change. Requests and watches in progress continue (client-go cuts them
// off).
//
// # Goroutines
//
// None of its own. A run of an exec plugin is killed when the request that began it ends.
//
// Next: package restclient/kubeconfig
package credentials
