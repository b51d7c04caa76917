package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/websocket"
)

// ErrUnauthorized says that a request is nobody's.
var ErrUnauthorized = errors.New("Unauthorized")

// Authenticator finds out who sends a request.
type Authenticator struct {
	// Tokens are the bearer tokens and whom they stand for.
	Tokens TokenSet
	// ServiceAccounts reads the tokens that the server has issued; nil for none.
	ServiceAccounts *Issuer
	// ClientCAs are the authorities of client certificates; nil for none.
	ClientCAs *x509.CertPool
	// Anonymous lets requests without credentials in.
	Anonymous bool
}

// TokenSet are bearer tokens by their SHA-256: a look-up takes as long for a token that is nearly right as for any other.
type TokenSet map[[sha256.Size]byte]User

// NewTokenSet returns the set of these tokens.
func NewTokenSet(tokens map[string]User) TokenSet {
	set := TokenSet{}
	for token, user := range tokens {
		set[sha256.Sum256([]byte(token))] = user
	}
	return set
}

// Authenticate returns the user with all groups, system:authenticated or system:unauthenticated included. Every error is
// [ErrUnauthorized]. As in kube-apiserver a certificate counts before a token, and a credential that nobody knows is refused
// even where requests without any are welcome, unless another one is good.
func (a *Authenticator) Authenticate(r *http.Request) (User, error) {
	user, presented, known := a.fromCertificate(r)
	if !known {
		if token := BearerToken(r); token != "" {
			presented = true
			user, known = a.FromToken(token)
		}
	}
	switch {
	case known:
		user.Groups = with(user.Groups, GroupAuthenticated)
		return user, nil
	case a.Anonymous && !presented:
		return User{Name: Anonymous, Groups: []string{GroupUnauthenticated}}, nil
	}
	return User{}, ErrUnauthorized
}

// FromToken returns the user that a bearer token stands for.
func (a *Authenticator) FromToken(token string) (User, bool) {
	if user, known := a.Tokens[sha256.Sum256([]byte(token))]; known {
		return user, true
	}
	if a.ServiceAccounts != nil {
		return a.ServiceAccounts.Read(token)
	}
	return User{}, false
}

func (a *Authenticator) fromCertificate(r *http.Request) (user User, presented, known bool) {
	if a.ClientCAs == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return User{}, false, false
	}
	chain := r.TLS.PeerCertificates
	intermediates := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: a.ClientCAs, Intermediates: intermediates,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	subject := chain[0].Subject
	if err != nil || subject.CommonName == "" {
		return User{}, true, false
	}
	return User{Name: subject.CommonName, Groups: slices.Clone(subject.Organization)}, true, true
}

// webSocketToken is how browsers, which cannot set headers, send a token: as a subprotocol.
const webSocketToken = "base64url.bearer.authorization.k8s.io."

// BearerToken returns the token of a request, "" if it has none.
func BearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	for _, protocol := range websocket.Subprotocols(r) {
		if encoded, ok := strings.CutPrefix(protocol, webSocketToken); ok {
			token, err := base64.RawURLEncoding.DecodeString(encoded)
			if err == nil {
				return string(token)
			}
		}
	}
	return ""
}

// with returns the groups and one more, in a slice of its own.
func with(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(slices.Clip(groups), group)
}

// User is who sends a request.
type User struct {
	// Name is the user name: "kubernetes-admin", "system:serviceaccount:default:default".
	Name string
	// UID tells two users of one name apart; often "".
	UID string
	// Groups are the groups that the user is in, besides system:authenticated, which every user is in who is somebody.
	Groups []string
}

// The names that Kubernetes gives to special users and groups.
const (
	// Anonymous is the user of requests without credentials.
	Anonymous = "system:anonymous"
	// GroupUnauthenticated is the group of the anonymous user, GroupAuthenticated that of all others.
	GroupUnauthenticated = "system:unauthenticated"
	GroupAuthenticated   = "system:authenticated"
	// GroupMasters is the group that may do everything.
	GroupMasters = "system:masters"
)
