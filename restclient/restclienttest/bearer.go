package restclienttest

import (
	"crypto/tls"
	"net/http"
)

// Bearer is a token that is also sent over an unencrypted pipe, where no third party can read it.
// The zero value is an empty token.
type Bearer string

// Apply sets the Authorization header.
func (b Bearer) Apply(r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return nil
}

// Unauthorized does nothing: the token cannot be renewed.
func (Bearer) Unauthorized(*http.Request) {}

// ClientCertificate returns nil: there is none.
func (Bearer) ClientCertificate() (*tls.Certificate, error) { return nil, nil }
