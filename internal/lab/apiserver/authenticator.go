package apiserver

import (
	"crypto/rand"
	"crypto/x509"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Authenticator determines the user of a request. It must not be changed while in use.
type Authenticator struct {
	// Tokens are the users by bearer token.
	Tokens map[string]User
	// ServiceAccounts has the tokens that the server has issued.
	ServiceAccounts Issuer
	// ClientCAs verify client certificates. It may be nil.
	ClientCAs *x509.CertPool
	// Anonymous accepts requests without credentials.
	Anonymous bool
}

// Authenticate returns the user with all groups, including system:authenticated or
// system:unauthenticated; false without a valid one. As in kube-apiserver a certificate takes
// precedence over a token. An invalid credential is refused even if anonymous requests are
// accepted, unless another one is valid.
func (a *Authenticator) Authenticate(r *http.Request) (User, bool) {
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
		return user, true
	case a.Anonymous && !presented:
		return User{Name: anonymousUser, Groups: []string{GroupUnauthenticated}}, true
	}
	return User{}, false
}

// FromToken returns the user of a bearer token.
func (a *Authenticator) FromToken(token string) (User, bool) {
	if user, known := a.Tokens[token]; known {
		return user, true
	}
	return a.ServiceAccounts.read(token)
}

// Issuer issues the tokens of service accounts: random texts that it remembers. Those of
// kube-apiserver are JSON Web Tokens.
type Issuer struct {
	mu     sync.Mutex
	issued map[string]issued // by token; guarded by mu
}

type issued struct {
	user    User
	expires time.Time
}

// issue returns a token for a service account, valid until expires, and forgets those that are not.
func (i *Issuer) issue(namespace, name, uid string, expires time.Time) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.DeleteFunc(i.issued, func(_ string, one issued) bool { return !time.Now().Before(one.expires) })
	if i.issued == nil {
		i.issued = map[string]issued{}
	}
	token := rand.Text()
	i.issued[token] = issued{expires: expires, user: User{
		Name: serviceAccountPrefix + namespace + ":" + name, UID: uid,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace},
	}}
	return token
}

// read returns the user of a valid token of this issuer.
func (i *Issuer) read(token string) (User, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	one, ok := i.issued[token]
	return one.user, ok && time.Now().Before(one.expires)
}

const serviceAccountPrefix = "system:serviceaccount:"

// tokenIssuer is the default audience of tokens.
const tokenIssuer = "https://kubernetes.default.svc.cluster.local"

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
