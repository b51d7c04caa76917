package kubeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"orrery/restclient"
	"orrery/restclient/credentials"
)

// serverURL returns the URL of the server with scheme and path, but without query and fragment.
func (l *loader) serverURL() (*url.URL, error) {
	text := strings.TrimSpace(l.cluster.Server)
	if text == "" {
		return nil, l.clusterError("has no server: add its URL, such as https://10.0.0.1:6443", nil)
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text // as kubectl does
	}
	server, err := url.Parse(text)
	isHTTP := err == nil && (server.Scheme == "http" || server.Scheme == "https")
	if !isHTTP || server.Hostname() == "" || server.User != nil {
		return nil, l.clusterError("has a server that is not an http or https URL, or has a user in it: write it like "+
			"https://10.0.0.1:6443", nil)
	}
	server.RawQuery, server.Fragment = "", ""
	server.Path = strings.TrimSuffix(server.Path, "/")
	server.RawPath = strings.TrimSuffix(server.RawPath, "/")
	return server, nil
}

// proxy returns nil if the cluster has no proxy; then the environment decides.
func (l *loader) proxy() (func(*http.Request) (*url.URL, error), error) {
	if l.cluster.ProxyURL == "" {
		return nil, nil
	}
	// The text may contain a password, and errors of package url quote it: they are not returned.
	proxy, err := url.Parse(string(l.cluster.ProxyURL))
	if err != nil || proxy.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5"}, proxy.Scheme) {
		return nil, l.clusterError("has a proxy-url that is not an http, https or socks5 URL: write it like "+
			"http://proxy:3128", nil)
	}
	return http.ProxyURL(proxy), nil
}

// execExtension is the name of the cluster extension that is handed to exec plugins.
const execExtension = "client.authentication.k8s.io/exec"

func (u *User) hasToken() bool { return u.Token != "" || u.TokenFile != "" }
func (u *User) hasCertificate() bool {
	return u.ClientCertificate != "" || len(u.ClientCertificateData) > 0
}
func (u *User) hasKey() bool { return u.ClientKey != "" || len(u.ClientKeyData) > 0 }

// checkUser reports what cannot work, even in fields that are not used.
func (l *loader) checkUser() error {
	u := l.user
	switch {
	case bool(u.AuthProvider || u.Username || u.Password):
		return l.userError("has an auth-provider, a username or a password, which are not supported: use an exec "+
			"plugin, a token or a client certificate", nil)
	case bool(u.ImpersonateUID || u.ImpersonateUserExtra):
		return l.userError("has as-uid or as-user-extra, which are not supported: use as and as-groups", nil)
	case u.hasCertificate() && !u.hasKey():
		return l.userError("has a client certificate without a key: add client-key or client-key-data", nil)
	case u.Impersonate == "" && len(u.ImpersonateGroups) > 0:
		return l.userError("has as-groups without as: add the name of the user to impersonate", nil)
	}
	return nil
}

// credentials returns the credentials of the user. Over plain http to another machine, or through a
// proxy, it omits all but impersonation, as kubectl does. A request without its impersonation would
// have too many rights.
func (l *loader) credentials(server *url.URL) (restclient.Credentials, error) {
	if !l.secureTransport(server) {
		if u := l.user; u.hasToken() || u.hasCertificate() || u.Exec != nil {
			l.info.warn("the credentials of the user %q are not used, because the cluster %q is reached over "+
				"plain http", l.info.User, l.info.Cluster)
		}
		return l.impersonation(), nil
	}
	certificate, err := l.certificate()
	if err != nil {
		return nil, err
	}
	header, err := l.header()
	if err != nil {
		return nil, err
	}
	var plugin restclient.Credentials
	if l.user.Exec != nil && certificate == nil && header == nil {
		if plugin, err = l.exec(server); err != nil {
			return nil, err
		}
	}
	return credentials.Join(certificate, header, plugin, l.impersonation()), nil
}

func (l *loader) secureTransport(server *url.URL) bool {
	return credentials.Allowed(server) && (server.Scheme == "https" || l.cluster.ProxyURL == "")
}

func (l *loader) impersonation() restclient.Credentials {
	u := l.user
	if u.Impersonate == "" {
		return nil
	}
	return &credentials.Impersonation{UserName: u.Impersonate, Groups: u.ImpersonateGroups}
}

func (l *loader) certificate() (restclient.Credentials, error) {
	u := l.user
	if !u.hasCertificate() {
		return nil, nil
	}
	certificate, err := credentials.NewCertificate(credentials.CertificateConfig{
		CertData: u.ClientCertificateData, CertFile: u.ClientCertificate,
		KeyData: u.ClientKeyData, KeyFile: u.ClientKey,
	})
	if err != nil {
		return nil, l.credentialError(err, "correct client-certificate and client-key")
	}
	return certificate, nil
}

func (l *loader) header() (restclient.Credentials, error) {
	u := l.user
	switch {
	case u.TokenFile != "":
		tokenFile, err := credentials.NewTokenFile(u.TokenFile)
		if err != nil {
			return nil, l.credentialError(err, "correct tokenFile")
		}
		return tokenFile, nil
	case u.Token != "":
		token, err := credentials.NewToken(string(u.Token))
		if err != nil {
			return nil, l.credentialError(err, "paste the token again")
		}
		return token, nil
	default:
		return nil, nil
	}
}

func (l *loader) credentialError(err error, advice string) error {
	return l.userError(fmt.Sprintf("has credentials that do not work (%v): %s", err, advice), err)
}

func (l *loader) exec(server *url.URL) (_ restclient.Credentials, err error) {
	cfg := *l.user.Exec
	if cfg.ProvideClusterInfo {
		if cfg.Cluster, err = l.execCluster(server); err != nil {
			return nil, err
		}
	}
	plugin, err := credentials.NewExec(cfg)
	if wrong, ok := errors.AsType[*credentials.ExecError](err); ok {
		return nil, l.userError("has an exec plugin that "+wrong.Problem, err)
	}
	return plugin, err
}

func (l *loader) execCluster(server *url.URL) (*credentials.ExecCluster, error) {
	c := l.cluster
	cluster := &credentials.ExecCluster{
		Server: server.String(), TLSServerName: c.TLSServerName, InsecureSkipTLSVerify: c.InsecureSkipTLSVerify,
		CertificateAuthorityData: c.CertificateAuthorityData, ProxyURL: string(c.ProxyURL),
	}
	if len(cluster.CertificateAuthorityData) == 0 && c.CertificateAuthority != "" {
		data, err := os.ReadFile(c.CertificateAuthority)
		if err != nil {
			return nil, l.clusterError("has a certificate-authority that cannot be read: correct the path or its "+
				"permissions", err)
		}
		cluster.CertificateAuthorityData = data
	}
	for _, extension := range c.Extensions {
		if extension.Name != execExtension {
			continue
		}
		config, err := json.Marshal(extension.Extension)
		if err != nil {
			return nil, l.clusterError("has the extension "+execExtension+", which cannot be written as JSON: give "+
				"its fields names that are strings", nil)
		}
		cluster.Config = config
	}
	return cluster, nil
}
