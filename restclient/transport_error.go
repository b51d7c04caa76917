package restclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"syscall"

	"orrery/restclient/api"
)

// TransportError says that a request got no (complete) answer of its server: that could not be
// reached, did not prove its identity, the connection broke, or the credentials could not be
// obtained. Error is one plain sentence for people; Unwrap returns the cause, so that errors.Is
// finds syscall.ECONNREFUSED, context.Canceled and so on.
type TransportError struct {
	Kind TransportErrorKind
	Verb string // HTTP method
	URL  string // without secrets
	Err  error
}

// TransportErrorKind classifies transport errors.
type TransportErrorKind int

// The kinds of transport errors.
const (
	ConnectionFailed    TransportErrorKind = iota // anything not listed below
	HostNotFound                                  // the name does not resolve
	HostUnreachable                               // no process listens there, or there is no route
	CertificateUnknown                            // signed by an authority that we do not trust
	CertificateInvalid                            // expired, wrong name, not for servers
	CertificateRejected                           // the server does not like our client certificate
	NotTLS                                        // https spoken to an http port
	NeedsTLS                                      // http spoken to an https port
	ConnectionLost                                // broke while the request was under way
	TimedOut                                      // a time limit passed
	Canceled                                      // the caller's context was cancelled
	ProxyFailed                                   // the proxy could not be used
	CredentialsFailed                             // Credentials.Apply or ClientCertificate returned an error
	RequestInvalid                                // the request could not be built
	ConnectionDead                                // its other end has gone without a word: pings are not answered
	Redirected                                    // the answer sends the client elsewhere
)

// sentences holds what Error says for each kind, in the order server, cause.
var sentences = map[TransportErrorKind]string{
	ConnectionFailed: "the connection to %s failed: %s",
	HostNotFound:     "the host name of %s cannot be resolved: %s",
	HostUnreachable:  "the server %s cannot be reached: %s",
	CertificateUnknown: "the certificate of %s is signed by an authority that is not trusted (is this the right " +
		"certificate authority?): %s",
	CertificateInvalid:  "the certificate of %s is not valid: %s",
	CertificateRejected: "the server %s rejected our client certificate: %s",
	NotTLS:              "the server %s does not speak TLS (should the address begin with http://?): %s",
	NeedsTLS:            "the server %s speaks TLS (the address should begin with https://): %s",
	ConnectionLost:      "the connection to %s broke off: %s",
	TimedOut:            "the server %s did not answer in time: %s",
	Canceled:            "the request to %s was cancelled: %s",
	ProxyFailed:         "the proxy for %s cannot be used: %s",
	CredentialsFailed:   "the credentials for %s cannot be obtained: %s",
	RequestInvalid:      "the request to %s cannot be made: %s",
	ConnectionDead:      "the connection to %s is dead, not even pings are answered: %s",
	Redirected: "the server %s answered %s, which is not followed: no API server does that (is it a proxy or a login " +
		"page?)",
}

func (e *TransportError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Verb, e.URL, e.Sentence())
}

// Sentence returns the error without method and URL: what a person at a terminal wants to read.
func (e *TransportError) Sentence() string {
	server := e.URL // without the path
	if u, err := url.Parse(e.URL); err == nil {
		server = u.Scheme + "://" + u.Host
	}
	sentence := fmt.Sprintf(sentences[e.Kind], server, Redact(e.Err.Error()))
	if e.Kind == TimedOut {
		sentence = strings.TrimSuffix(sentence, ": "+context.DeadlineExceeded.Error()) // it says the same
	}
	return sentence
}

func (e *TransportError) Unwrap() error { return e.Err }

// Unreachable reports whether the server could not be reached, or the connection to it broke: the
// same request may go better later. Packages that do not know this one, such as informer/reflector,
// ask for this method.
func (e *TransportError) Unreachable() bool {
	switch e.Kind {
	case ConnectionFailed, HostNotFound, HostUnreachable, ConnectionLost, TimedOut, Canceled, ConnectionDead:
		return true
	}
	return false
}

// broken turns the error of a failed transport into a *TransportError.
func (x *exchange) broken(ctx context.Context, u *url.URL, err error) error {
	if context.Cause(ctx) == errSilence {
		err = fmt.Errorf("%w (%v)", errSilence, silenceTimeout)
	} else if end := ctx.Err(); end != nil && !errors.Is(err, end) {
		err = fmt.Errorf("%w (%w)", end, err) // the error of a lower layer that the end of the context caused
	}
	return &TransportError{Kind: kindOf(ctx, err), Verb: x.req.method(), URL: redactURL(u), Err: err}
}

// unreadable turns the error of a consume function into the caller's error.
func (x *exchange) unreadable(ctx context.Context, u *url.URL, err error) error {
	if refused, ok := errors.AsType[*api.StatusError](err); ok {
		return refused
	}
	if cause := brokenBody(err); cause != nil {
		return x.broken(ctx, u, fmt.Errorf("while reading the answer: %w", cause))
	}
	return &DecodeError{Verb: x.req.method(), URL: redactURL(u), Err: err}
}

// readError marks an error of the connection, as opposed to one of the received bytes.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// brokenBody returns the connection's error that a decoder returned, or nil. A body that ends
// inside a value is a broken connection.
func brokenBody(err error) error {
	if read, ok := errors.AsType[*readError](err); ok {
		return read.err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// markedError lets code that runs inside net/http or crypto/tls say which kind its failure is.
type markedError struct {
	kind TransportErrorKind
	err  error
}

func (e *markedError) Error() string { return e.err.Error() }
func (e *markedError) Unwrap() error { return e.err }

// kindOf classifies what net/http, crypto/tls and net report. The caller's context is checked
// first, because its end shows up in many disguises.
func kindOf(ctx context.Context, err error) TransportErrorKind {
	var marked *markedError
	switch {
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSilence) && errors.Is(ctx.Err(), context.Canceled):
		return Canceled
	case ctx.Err() != nil:
		return TimedOut
	case errors.As(err, &marked):
		return marked.kind
	}
	if kind, ok := certificateKind(err); ok {
		return kind
	}
	return networkKind(err)
}

func certificateKind(err error) (TransportErrorKind, bool) {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		op       *net.OpError
		record   tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return CertificateUnknown, true
	case errors.As(err, &hostname), errors.As(err, &invalid), errors.As(err, &verify):
		return CertificateInvalid, true
	case errors.As(err, &op) && op.Op == "remote error" && clientCertificateAlert(op.Err):
		return CertificateRejected, true
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return NotTLS, true
	}
	return 0, false
}

// clientCertificateAlert reports whether a TLS alert from the other side (RFC 8446 section 6.2)
// complains about our certificate. crypto/tls does not export the type of its alerts, a uint8.
func clientCertificateAlert(err error) bool {
	alert := reflect.ValueOf(err)
	if alert.Kind() != reflect.Uint8 {
		return false
	}
	switch alert.Uint() {
	// bad, unsupported, revoked, expired, unknown, unknown CA, access denied, required
	case 42, 43, 44, 45, 46, 48, 49, 116:
		return true
	}
	return false
}

// http2NotEstablished ends the error of a request whose new HTTP/2 connection broke before it was
// used, for instance because the server rejects a client certificate.
const http2NotEstablished = "http2: client conn could not be established"

func networkKind(err error) TransportErrorKind {
	var (
		dns     *net.DNSError
		op      *net.OpError
		timeout net.Error
	)
	switch isOp := errors.As(err, &op); {
	case isOp && op.Op == "proxyconnect":
		return ProxyFailed
	case errors.Is(err, syscall.ETIMEDOUT) && isOp && op.Op != "dial": // the probes of TCP
		return ConnectionDead
	case errors.As(err, &dns):
		return HostNotFound
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH),
		errors.Is(err, syscall.ENETUNREACH),
		isOp && op.Op == "dial":
		return HostUnreachable
	case errors.As(err, &timeout) && timeout.Timeout():
		return TimedOut
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed),
		strings.HasSuffix(err.Error(), http2NotEstablished):
		return ConnectionLost
	}
	return ConnectionFailed
}

// DecodeError says that the server answered with something that cannot be understood.
type DecodeError struct {
	Verb, URL string
	Err       error
}

func (e *DecodeError) Error() string {
	// encoding/json quotes a number that does not fit, however long it is
	return fmt.Sprintf("%s %s: the answer cannot be understood: %s", e.Verb, e.URL, api.CutText(e.Err.Error()))
}

// Unwrap returns the cause, for instance a *json.SyntaxError, a *TooLargeError or
// io.ErrUnexpectedEOF.
func (e *DecodeError) Unwrap() error { return e.Err }

// TooLargeError says that a watch event, a list or one of its items, or a body is larger than the
// client's limit.
type TooLargeError struct {
	What  string
	Limit int // in bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s is larger than the limit of %d bytes", e.What, e.Limit)
}
