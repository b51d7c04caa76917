package apiserver

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// ErrUnauthorized is returned for a request without a valid user.
var ErrUnauthorized = errors.New("Unauthorized")

// Authenticator determines the user of a request. It must not be changed while in use.
type Authenticator struct {
	// Tokens are the bearer tokens and their users.
	Tokens TokenSet
	// ServiceAccounts verifies the tokens that the server has issued. It may be nil.
	ServiceAccounts *Issuer
	// ClientCAs verify client certificates. It may be nil.
	ClientCAs *x509.CertPool
	// Anonymous accepts requests without credentials.
	Anonymous bool
}

// TokenSet maps the SHA-256 of bearer tokens to users, so that the time of a lookup reveals nothing
// about a token.
type TokenSet map[[sha256.Size]byte]User

func NewTokenSet(tokens map[string]User) TokenSet {
	set := TokenSet{}
	for token, user := range tokens {
		set[sha256.Sum256([]byte(token))] = user
	}
	return set
}

// Authenticate returns the user with all groups, including system:authenticated or
// system:unauthenticated. Every error is [ErrUnauthorized]. As in kube-apiserver a certificate
// takes precedence over a token. An invalid credential is refused even if anonymous requests are
// accepted, unless another one is valid.
func (a *Authenticator) Authenticate(r *http.Request) (User, error) {
	user, presented, known := a.fromCertificate(r)
	if !known {
		if token := bearerToken(r); token != "" {
			presented = true
			user, known = a.FromToken(token)
		}
	}
	switch {
	case known:
		user.Groups = with(user.Groups, GroupAuthenticated)
		return user, nil
	case a.Anonymous && !presented:
		return User{Name: anonymousUser, Groups: []string{GroupUnauthenticated}}, nil
	}
	return User{}, ErrUnauthorized
}

// FromToken returns the user of a bearer token.
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

// bearerToken returns the bearer token of a request, or "".
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// with returns a copy of groups with one more group.
func with(groups []string, group string) []string {
	if slices.Contains(groups, group) {
		return groups
	}
	return append(slices.Clip(groups), group)
}

// User is the user of a request.
type User struct {
	// Name is for example "kubernetes-admin" or "system:serviceaccount:default:default".
	Name string
	// UID distinguishes users of the same name; often "".
	UID string
	// Groups are the groups besides system:authenticated, which all authenticated users are in.
	Groups []string
}

// Special users and groups of Kubernetes.
const (
	// anonymousUser is the user of requests without credentials.
	anonymousUser = "system:anonymous"
	// GroupUnauthenticated is the group of the anonymous user, GroupAuthenticated that of all
	// others.
	GroupUnauthenticated = "system:unauthenticated"
	GroupAuthenticated   = "system:authenticated"
	// GroupMasters is the group of administrators.
	GroupMasters = "system:masters"
)
