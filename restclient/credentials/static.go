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

// Token is a bearer token that never changes. Create it with [NewToken].
type Token struct {
	described
	noCertificate
	constant

	header string // immutable, secret
}

// NewToken returns credentials for a bearer token. White space around it is removed. A token that
// is empty or cannot stand in an HTTP header is an error.
func NewToken(token string) (*Token, error) {
	token = strings.TrimSpace(token)
	if token == "" {
		return nil, errors.New("the token is empty")
	}
	if err := checkToken(token); err != nil {
		return nil, err
	}
	return &Token{described: "bearer token", header: bearer(token)}, nil
}

func (t *Token) Apply(req *http.Request) error { return setAuthorization(req, t.header) }

// Basic is a user name with a password. Kubernetes itself has not accepted them since 1.19; proxies
// in front of a server may. Create it with [NewBasic].
type Basic struct {
	described
	noCertificate
	constant

	header string // immutable, secret
}

// NewBasic returns credentials for HTTP basic authentication (RFC 7617).
func NewBasic(username, password string) *Basic {
	secret := base64.StdEncoding.EncodeToString([]byte(username + ":" + password))
	return &Basic{described: "user name and password", header: "Basic " + secret}
}

func (b *Basic) Apply(req *http.Request) error { return setAuthorization(req, b.header) }

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
