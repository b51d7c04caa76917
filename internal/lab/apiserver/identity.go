package apiserver

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// administrator is the user of the kubeconfig that the server writes.
var administrator = User{Name: "kubernetes-admin", Groups: []string{GroupMasters}}

// identity holds the server's keys, certificates and administrator. It is immutable.
type identity struct {
	token     string // of the administrator
	authority *Authority
	// serving is the server's certificate, nil without TLS. clientCertificate and clientKey are the
	// administrator's.
	serving                      *tls.Certificate
	clientCertificate, clientKey []byte
}

var errNoCertificate = errors.New("it contains no PEM certificate")

// newIdentity creates keys, certificates and the authenticator that accepts them.
func newIdentity(config Config) (*identity, *Authenticator, error) {
	id := &identity{token: rand.Text()}
	tokens := maps.Clone(config.Tokens)
	if tokens == nil {
		tokens = map[string]User{}
	}
	tokens[id.token] = administrator
	authenticator := &Authenticator{
		Tokens: tokens, Anonymous: config.Anonymous || config.Unprotected,
	}
	authority, err := NewAuthority()
	if err != nil {
		return nil, nil, err
	}
	id.authority = authority // also without TLS: namespaces get it in kube-root-ca.crt
	if !config.TLS {
		return id, authenticator, nil
	}
	serving, err := authority.IssueServer(names(config))
	if err != nil {
		return nil, nil, err
	}
	id.serving = &serving
	if id.clientCertificate, id.clientKey, err = authority.IssueClient(administrator); err != nil {
		return nil, nil, err
	}
	authenticator.ClientCAs = x509.NewCertPool()
	authenticator.ClientCAs.AddCert(authority.Certificate())
	if len(config.ClientCA) > 0 && !authenticator.ClientCAs.AppendCertsFromPEM(config.ClientCA) {
		return nil, nil, fmt.Errorf("invalid client CA: %w", errNoCertificate)
	}
	return id, authenticator, nil
}

// authenticate returns the user of a request.
func (s *Server) authenticate(r *http.Request) (User, bool) {
	user, known := s.authenticator.Authenticate(r)
	if user.Name == anonymousUser && s.config.Unprotected {
		user = administrator
		user.Groups = []string{GroupMasters, GroupAuthenticated}
	}
	return user, known
}

// names returns the host names for the server's certificate.
func names(config Config) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default.svc"}
	if host, _, err := net.SplitHostPort(config.Listen); err == nil && host != "" {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// tlsConfig requests client certificates and leaves the verification to the authenticator, which
// answers 401 where a failed handshake would give no reason.
func (id *identity) tlsConfig() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{*id.serving},
		ClientAuth:   tls.RequestClientCert,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}
}

// impersonate returns the user that a request acts as (kubectl --as). Every user may impersonate,
// because every user may do everything.
func impersonate(user User, header http.Header) (User, error) {
	name := header.Get("Impersonate-User")
	groups := slices.Clone(header.Values("Impersonate-Group"))
	if name == "" {
		if len(groups) > 0 || header.Get("Impersonate-Uid") != "" {
			return User{}, resources.BadRequest(
				"requested impersonation of groups or a UID without impersonating a user")
		}
		return user, nil
	}
	if rest, ok := strings.CutPrefix(name, serviceAccountPrefix); ok && len(groups) == 0 {
		namespace, _, _ := strings.Cut(rest, ":")
		groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	}
	switch {
	case name == anonymousUser:
		groups = append(groups, GroupUnauthenticated)
	case !slices.Contains(groups, GroupAuthenticated):
		groups = append(groups, GroupAuthenticated)
	}
	return User{Name: name, UID: header.Get("Impersonate-Uid"), Groups: groups}, nil
}

// authorize returns the 403 for a request, or nil. Authenticated users may do everything that no
// fault forbids. Anonymous users may read health and version, as on a cluster with the default
// roles.
func (s *Server) authorize(user User, asked faults.Request) *api.StatusError {
	if user.Name == anonymousUser && !isPublic(asked) {
		return faults.Forbidden(asked)
	}
	return s.faults.Authorize(asked)
}

func isPublic(asked faults.Request) bool {
	if asked.Resource != "" || asked.Verb != "get" {
		return false
	}
	switch strings.TrimSuffix(asked.Path, "/") {
	case "/healthz", "/livez", "/readyz", "/version":
		return true
	}
	return false
}
