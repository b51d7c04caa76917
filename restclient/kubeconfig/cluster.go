package kubeconfig

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"orrery/restclient"
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
	switch {
	case err != nil || server.Hostname() == "" || server.Scheme != "http" && server.Scheme != "https":
		return nil, l.clusterError("has a server that is not an http or https URL: write it like https://10.0.0.1:6443", nil)
	case server.User != nil:
		return nil, l.clusterError("has a user name or password in the URL of its server: move them to username and password of the user", nil)
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
	if err != nil || proxy.Hostname() == "" {
		return nil, l.clusterError("has a proxy-url that is not a URL: write it like http://proxy:3128", nil)
	}
	switch proxy.Scheme {
	case "http", "https", "socks5":
		return http.ProxyURL(proxy), nil
	default:
		return nil, l.clusterError(fmt.Sprintf("has a proxy-url with the scheme %q: use http, https or socks5", proxy.Scheme), nil)
	}
}

// tls returns how the server proves its identity. restclient.New checks the authority.
func (l *loader) tls() restclient.TLS {
	c := l.cluster
	return restclient.TLS{
		CAData: c.CertificateAuthorityData, CAFile: c.CertificateAuthority,
		ServerName: c.TLSServerName, Insecure: c.InsecureSkipTLSVerify,
	}
}
