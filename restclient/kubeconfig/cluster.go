package kubeconfig

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
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
		text = l.defaultScheme() + "://" + text
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

// defaultScheme returns https if a TLS setting is present. (kubectl always takes http.)
func (l *loader) defaultScheme() string {
	c, u := l.cluster, l.user
	if c.InsecureSkipTLSVerify || c.TLSServerName != "" || c.CertificateAuthority != "" || len(c.CertificateAuthorityData) > 0 ||
		u.ClientCertificate != "" || len(u.ClientCertificateData) > 0 {
		return "https"
	}
	return "http"
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

func (l *loader) tls() (restclient.TLS, error) {
	c := l.cluster
	result := restclient.TLS{ServerName: c.TLSServerName, Insecure: c.InsecureSkipTLSVerify}
	hasFile, hasData := c.CertificateAuthority != "", len(c.CertificateAuthorityData) > 0
	if c.InsecureSkipTLSVerify {
		if hasFile || hasData {
			return result, l.clusterError("sets insecure-skip-tls-verify and a certificate authority: remove one of them", nil)
		}
		return result, nil
	}
	switch {
	case hasData:
		if hasFile {
			l.info.warn("certificate-authority of the cluster %q is ignored in favour of certificate-authority-data",
				l.info.Cluster)
		}
		if !hasCertificate(c.CertificateAuthorityData) {
			return result, l.clusterError("has a certificate-authority-data without a PEM certificate: paste the base64 of a PEM file", nil)
		}
		result.CAData = c.CertificateAuthorityData
	case hasFile:
		data, err := os.ReadFile(c.CertificateAuthority)
		if err != nil {
			return result, l.clusterError(fmt.Sprintf("has the certificate-authority %s, which cannot be read (%v): correct the path or its permissions",
				c.CertificateAuthority, cause(err)), err)
		}
		if !hasCertificate(data) {
			return result, l.clusterError(fmt.Sprintf("has the certificate-authority %s, which holds no PEM certificate: name a PEM file", c.CertificateAuthority), nil)
		}
		result.CAFile = c.CertificateAuthority
	}
	return result, nil
}

func hasCertificate(pem []byte) bool { return x509.NewCertPool().AppendCertsFromPEM(pem) }
