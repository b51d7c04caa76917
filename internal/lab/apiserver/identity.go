package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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

// authority signs the certificates of the server and its administrator. Its key exists only in
// memory.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// certificateLifetime is the lifetime of all certificates, longer than that of the server.
const certificateLifetime = 365 * 24 * time.Hour

// clockSkew is how far in the past certificates become valid, for clients with slow clocks.
const clockSkew = time.Hour

// newAuthority returns an authority with a new key.
func newAuthority() (*authority, error) {
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "orrery certificate authority"},
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	a := &authority{certificate: template}
	der, key, err := a.issue(template)
	if err != nil {
		return nil, err
	}
	a.key = key
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

// PEM returns the authority's certificate in PEM.
func (a *authority) PEM() []byte { return certificatePEM(a.certificate.Raw) }

// issueServer signs a certificate for a server with these names and addresses.
func (a *authority) issueServer(hosts []string) (*tls.Certificate, error) {
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: "orrery"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, key, err := a.issue(template)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// issueClient signs a certificate for a user and returns it with its key, both in PEM.
func (a *authority) issueClient(user User) (certificate, key []byte, err error) {
	der, private, err := a.issue(&x509.Certificate{
		Subject:  pkix.Name{CommonName: user.Name, Organization: user.Groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	return certificatePEM(der), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), err
}

// issue signs a certificate for a new key. That of the authority is signed by itself.
func (a *authority) issue(template *x509.Certificate) (der []byte, key *ecdsa.PrivateKey, err error) {
	template.NotBefore, template.NotAfter = time.Now().Add(-clockSkew), time.Now().Add(certificateLifetime)
	key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	// Without a serial number in the template it is random.
	der, err = x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, signer)
	return der, key, err
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
