package apiserver

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/apiserver/resources"
)

// User is the user of a request.
type User struct {
	// Name is for example "kubernetes-admin" or "system:serviceaccount:default:default".
	Name string
	// UID distinguishes users of the same name; often "".
	UID string
	// Groups are the groups besides system:authenticated, which all users are in.
	Groups []string
}

// Special users and groups of Kubernetes.
const (
	// GroupMasters is the group of administrators.
	GroupMasters = "system:masters"
	// groupAuthenticated is the group of all users.
	groupAuthenticated = "system:authenticated"

	serviceAccountPrefix = "system:serviceaccount:"
	// tokenIssuer is the default audience of tokens.
	tokenIssuer = "https://kubernetes.default.svc.cluster.local"
)

// administrator is the user of the kubeconfig that the server writes.
var administrator = User{Name: "kubernetes-admin", Groups: []string{GroupMasters}}

// identity holds the server's keys and certificates, and the credentials that it accepts.
type identity struct {
	token  string          // of the administrator
	tokens map[string]User // by bearer token, the administrator's among them

	// The following are nil without TLS. clientCAs has the authority, which signs the certificates of
	// clients; clientCertificate and clientKey are the administrator's.
	authority                    *authority
	clientCAs                    *x509.CertPool
	serving                      *tls.Certificate
	clientCertificate, clientKey []byte

	mu     sync.Mutex
	issued map[string]issuedToken // the tokens of service accounts; guarded by mu
}

// issuedToken is a token of a service account: a random text, where kube-apiserver issues a JSON
// Web Token.
type issuedToken struct {
	user    User
	expires time.Time
}

// newIdentity creates keys and certificates.
func newIdentity(config Config) (id *identity, err error) {
	id = &identity{token: rand.Text(), tokens: map[string]User{}, issued: map[string]issuedToken{}}
	maps.Copy(id.tokens, config.Tokens)
	id.tokens[id.token] = administrator
	if !config.TLS {
		return id, nil
	}
	if id.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	id.clientCAs = x509.NewCertPool()
	id.clientCAs.AddCert(id.authority.certificate)
	if id.serving, err = id.authority.issueServer(names(config)); err != nil {
		return nil, err
	}
	id.clientCertificate, id.clientKey, err = id.authority.issueClient(administrator)
	return id, err
}

// names returns the host names for the server's certificate.
func names(config Config) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default.svc"}
	if host, _, err := net.SplitHostPort(config.Listen); err == nil && host != "" && !slices.Contains(hosts, host) {
		hosts = append(hosts, host)
	}
	return hosts
}

// tlsConfig requests client certificates and leaves the verification to authenticate, which answers
// 401 where a failed handshake would give no reason.
func (id *identity) tlsConfig() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{*id.serving},
		ClientAuth:   tls.RequestClientCert,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}
}

// authenticate returns the user of a request with all groups, including system:authenticated; false
// without a valid one. As in kube-apiserver a certificate takes precedence over a token. An invalid
// credential is refused even by an unprotected server, unless another one is valid.
func (s *Server) authenticate(r *http.Request) (User, bool) {
	user, presented, known := s.identity.fromCertificate(r)
	if token := bearerToken(r); !known && token != "" {
		presented = true
		user, known = s.identity.fromToken(token)
	}
	if s.config.Unprotected && !presented {
		user, known = administrator, true
	}
	return authenticated(user), known
}

// authenticated returns a user with the group of all authenticated users.
func authenticated(user User) User {
	if !slices.Contains(user.Groups, groupAuthenticated) {
		user.Groups = append(slices.Clip(user.Groups), groupAuthenticated)
	}
	return user
}

func (id *identity) fromCertificate(r *http.Request) (user User, presented, known bool) {
	if id.clientCAs == nil || r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return User{}, false, false
	}
	certificate := r.TLS.PeerCertificates[0]
	_, err := certificate.Verify(x509.VerifyOptions{
		Roots: id.clientCAs, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return User{Name: certificate.Subject.CommonName, Groups: certificate.Subject.Organization}, true, err == nil
}

// bearerToken returns the bearer token of a request, or "".
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// fromToken returns the user of a bearer token.
func (id *identity) fromToken(token string) (User, bool) {
	if user, known := id.tokens[token]; known {
		return user, true
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	one, ok := id.issued[token]
	return one.user, ok && time.Now().Before(one.expires)
}

// issueToken returns a token for a service account, valid until expires, and forgets those that are
// not.
func (id *identity) issueToken(namespace, name, uid string, expires time.Time) string {
	id.mu.Lock()
	defer id.mu.Unlock()
	maps.DeleteFunc(id.issued, func(_ string, one issuedToken) bool { return !time.Now().Before(one.expires) })
	token := rand.Text()
	user := User{Name: serviceAccountPrefix + namespace + ":" + name, UID: uid, Groups: accountGroups(namespace)}
	id.issued[token] = issuedToken{user: user, expires: expires}
	return token
}

// accountGroups returns the groups of the service accounts of a namespace.
func accountGroups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}

// impersonate returns the user that a request acts as (kubectl --as). Every user may impersonate,
// because every user may do everything.
func impersonate(user User, header http.Header) (User, error) {
	as := User{
		Name: header.Get("Impersonate-User"), UID: header.Get("Impersonate-Uid"),
		Groups: slices.Clone(header.Values("Impersonate-Group")),
	}
	if as.Name == "" {
		if len(as.Groups) > 0 || as.UID != "" {
			return User{}, resources.BadRequest(
				"requested impersonation of groups or a UID without impersonating a user")
		}
		return user, nil
	}
	if rest, ok := strings.CutPrefix(as.Name, serviceAccountPrefix); ok && len(as.Groups) == 0 {
		namespace, _, _ := strings.Cut(rest, ":")
		as.Groups = accountGroups(namespace)
	}
	return authenticated(as), nil
}
