package credentials

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Static is an Authorization header that never changes. Create it with [NewToken] or [NewBasic].
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

// NewBasic returns credentials for HTTP basic authentication (RFC 7617). Kubernetes itself has not
// accepted them since 1.19; proxies in front of a server may.
func NewBasic(username, password string) *Static {
	secret := base64.StdEncoding.EncodeToString([]byte(username + ":" + password))
	return &Static{described: "user name and password", header: "Basic " + secret}
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
