package restclient

import (
	"crypto/tls"
	"net/http"
)

// Credentials prove to the server who is asking. Package restclient/credentials holds the usual kinds (tokens, token
// files, exec plugins, client certificates, impersonation); a test can write its own in a few lines.
//
// All methods may be called from many goroutines at once. Nothing that they produce is ever logged, put into an error
// or handed to a trace hook.
type Credentials interface {
	// Apply sets the headers (Authorization, Impersonate-...) on a request that is about to be sent. It may block, for
	// instance while an exec plugin runs, but no longer than req.Context() lives. Its error ends the request and reaches
	// the caller as a *TransportError with Kind CredentialsFailed.
	Apply(req *http.Request) error

	// Unauthorized is told after a 401 answer to req, so that cached tokens are dropped. The client then calls Apply on
	// a copy of the request; if that changes its credentials (or ClientCertificate returns another certificate) the
	// request is repeated, once.
	Unauthorized(req *http.Request)

	// ClientCertificate returns the certificate for TLS handshakes, or nil and no error for none. It is asked at each
	// handshake and, because connections live long, also now and then in between (at most once in
	// TLS.CheckInterval): when a different pointer is returned, new requests go over new connections. So return the
	// same pointer as long as the certificate is the same.
	ClientCertificate() (*tls.Certificate, error)
}
