package credentials

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
)

// Basic is a user name with a password. Kubernetes itself has not accepted them since 1.19; proxies in front of a
// server may. Create it with [NewBasic].
type Basic struct {
	noCertificate
	constant

	header string // immutable, secret
}

// NewBasic returns credentials for HTTP basic authentication (RFC 7617).
func NewBasic(username, password string) *Basic {
	return &Basic{header: "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}
}

// Apply sets the Authorization header.
func (b *Basic) Apply(req *http.Request) error { return setAuthorization(req, b.header) }

// String contains neither name nor password.
func (b *Basic) String() string { return "user name and password" }

// Format does the same for all verbs of fmt: some would print the fields.
func (b *Basic) Format(f fmt.State, _ rune) { io.WriteString(f, b.String()) }
