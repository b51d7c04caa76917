package restclient

import "fmt"

// TransportError says that a request got no answer (or that its body broke off): the server could not be reached, did not prove its identity, the
// connection broke, or the credentials could not be obtained. Error() is one plain sentence for people; Unwrap gives the cause.
type TransportError struct {
	Kind TransportErrorKind
	Verb string
	URL  string // without query values that could be secret
	Err  error
}

// TransportErrorKind tells transport errors apart.
type TransportErrorKind int

const (
	ConnectionFailed    TransportErrorKind = iota // anything not listed below
	HostNotFound                                  // the name does not resolve
	HostUnreachable                               // nobody listens there, or no route
	CertificateUnknown                            // signed by an authority that we do not trust
	CertificateInvalid                            // expired, wrong name, not for servers
	CertificateRejected                           // the server does not like our client certificate
	NotTLS                                        // https spoken to an http port
	ConnectionLost                                // broke while the request was under way
	TimedOut                                      // a time limit passed
	Canceled                                      // the caller's context was cancelled
	ProxyFailed                                   // the proxy could not be used
	CredentialsFailed                             // Credentials.Apply or ClientCertificate returned an error
)

func (e *TransportError) Error() string { return fmt.Sprintf("%s %s: %v", e.Verb, e.URL, e.Err) }
func (e *TransportError) Unwrap() error { return e.Err }

// DecodeError says that the server answered with something that cannot be understood.
type DecodeError struct {
	Verb, URL string
	Err       error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%s %s: cannot decode the answer: %v", e.Verb, e.URL, e.Err)
}
func (e *DecodeError) Unwrap() error { return e.Err }
