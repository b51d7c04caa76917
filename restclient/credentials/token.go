package credentials

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Token is a bearer token that never changes. Create it with [NewToken].
type Token struct {
	noCertificate
	constant

	header string // immutable, secret
}

// NewToken returns credentials for a bearer token. White space around it is removed. A token that is empty or cannot
// stand in an HTTP header is an error.
func NewToken(token string) (*Token, error) {
	token = strings.TrimSpace(token)
	if token == "" {
		return nil, errors.New("the token is empty")
	}
	if err := checkToken(token); err != nil {
		return nil, err
	}
	return &Token{header: bearer(token)}, nil
}

// Apply sets the Authorization header.
func (t *Token) Apply(req *http.Request) error { return setAuthorization(req, t.header) }

// String does not contain the token.
func (t *Token) String() string { return "bearer token" }

// Format does the same for all verbs of fmt: some would print the fields.
func (t *Token) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }
