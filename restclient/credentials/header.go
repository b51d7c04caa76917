package credentials

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
)

const authorization = "Authorization"

// setAuthorization sets the header, unless a kind of credentials that goes first has set it or the transport is not fit
// for secrets.
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

// errBadToken deliberately says nothing about the token.
var errBadToken = errors.New("the token contains characters that cannot stand in an HTTP header")

// checkToken finds what net/http would refuse later, request by request: a token with a line break in the middle is a
// copy-and-paste mistake.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errBadToken
	}
	return nil
}

// noCertificate is embedded by the kinds that have none.
type noCertificate struct{}

// ClientCertificate returns nil: there is none.
func (noCertificate) ClientCertificate() (*tls.Certificate, error) { return nil, nil }

// constant is embedded by the kinds that have nothing to renew after a 401.
type constant struct{}

// Unauthorized does nothing: there is nothing to renew.
func (constant) Unauthorized(*http.Request) {}
