package credentials

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"orrery/restclient"
)

// Static is a bearer token that never changes. Create it with [NewToken].
type Static struct {
	described
	noCertificate
	constant

	header string // immutable, secret
}

// NewToken returns credentials for a bearer token. White space around it is removed. A token that
// is empty or cannot stand in an HTTP header is an error.
func NewToken(token string) (*Static, error) {
	token = strings.TrimSpace(token)
	if token == "" {
		return nil, errors.New("the token is empty")
	}
	if err := checkToken(token); err != nil {
		return nil, err
	}
	return &Static{described: "bearer token", header: bearer(token)}, nil
}

// Apply sets the header.
func (s *Static) Apply(req *http.Request) error { return setAuthorization(req, s.header) }

const authorization = "Authorization"

// setAuthorization sets the header, unless earlier credentials have set it or the transport must
// not carry secrets.
func setAuthorization(req *http.Request, value string) error {
	if req.Header.Get(authorization) != "" {
		return nil
	}
	if err := checkTransport(req.URL); err != nil {
		return err
	}
	req.Header.Set(authorization, value)
	return nil
}

func bearer(token string) string { return "Bearer " + token }

// errBadToken deliberately does not show the token.
var errBadToken = errors.New("the token contains characters that cannot stand in an HTTP header")

// checkToken detects what net/http would refuse at each request: a token with a line break is a
// copy-and-paste mistake.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errBadToken
	}
	return nil
}

// noCertificate is embedded by credentials without a client certificate.
type noCertificate struct{}

func (noCertificate) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

// constant is embedded by credentials that cannot be renewed after a 401.
type constant struct{}

func (constant) Unauthorized(*http.Request) {}

// described is embedded by credentials with secrets: fmt prints it instead of their fields, for
// every verb.
type described string

// String describes the credentials, for some with their source, without secrets.
func (d described) String() string { return string(d) }

// Format prints String for all verbs.
func (d described) Format(f fmt.State, _ rune) { io.WriteString(f, string(d)) }

// Join combines credentials, such as a client certificate with impersonation. The first one that
// sets the Authorization header wins, and so does the first one with a client certificate. Nil
// entries are left out; Join returns nil if none remain.
func Join(list ...restclient.Credentials) restclient.Credentials {
	var joined joined
	for _, c := range list {
		if c != nil {
			joined = append(joined, c)
		}
	}
	switch len(joined) {
	case 0:
		return nil
	case 1:
		return joined[0]
	default:
		return joined
	}
}

type joined []restclient.Credentials

func (j joined) Apply(req *http.Request) error {
	for _, c := range j {
		if err := c.Apply(req); err != nil {
			return err
		}
	}
	return nil
}

func (j joined) Unauthorized(req *http.Request) {
	for _, c := range j {
		c.Unauthorized(req)
	}
}

func (j joined) ClientCertificate() (*tls.Certificate, error) {
	for _, c := range j {
		if cert, err := c.ClientCertificate(); cert != nil || err != nil {
			return cert, err
		}
	}
	return nil, nil
}

// Impersonation makes the server treat the request as another user's, if the real user has the verb
// "impersonate" for that. It must not be changed while in use.
//
// The headers are sent over any transport, because without them the request would have more rights
// than intended.
type Impersonation struct {
	noCertificate
	constant

	UserName string // required
	Groups   []string
}

// Apply sets the headers Impersonate-User and Impersonate-Group. It fails without a user name: the
// request would be the real user's.
func (i *Impersonation) Apply(req *http.Request) error {
	if i.UserName == "" {
		return errors.New("impersonation has no user name")
	}
	req.Header.Set("Impersonate-User", i.UserName)
	req.Header.Del("Impersonate-Group")
	for _, group := range i.Groups {
		req.Header.Add("Impersonate-Group", group)
	}
	return nil
}

// Allowed reports whether tokens and passwords may be sent to u: over https (and wss) to any host,
// over plain http only to a loopback address, "localhost" or a name below ".localhost" (RFC 6761).
//
// client-go sends them only over https, and otherwise silently sends anonymous requests. Over
// loopback nothing leaves the machine, and a demo's API server needs no certificates.
func Allowed(u *url.URL) bool {
	switch u.Scheme {
	case "https", "wss":
		return true
	case "http", "ws":
		return isLoopback(u.Hostname())
	default:
		return false
	}
}

func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func checkTransport(u *url.URL) error {
	if Allowed(u) {
		return nil
	}
	return fmt.Errorf("credentials are not sent to %s over plain http: use https, or \"kubectl proxy\" on this machine",
		u.Host)
}
