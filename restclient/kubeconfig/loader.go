package kubeconfig

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
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
		return l.user.impersonation(), nil
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
	return credentials.Join(certificate, header, plugin, l.user.impersonation()), nil
}

func (l *loader) secureTransport(server *url.URL) bool {
	return credentials.Allowed(server) && (server.Scheme == "https" || l.cluster.ProxyURL == "")
}

func (u *User) impersonation() restclient.Credentials {
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

// ParseError reports a malformed kubeconfig file. It quotes nothing of the file.
type ParseError struct {
	Path    string // empty: not read from a file
	Line    int    // 0: not known
	Problem string // a clause
}

func (e *ParseError) Error() string {
	where := "the kubeconfig"
	if e.Path != "" {
		where += " file " + e.Path
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	return where + ": " + e.Problem
}

// NoConfigError reports that there is no configuration.
type NoConfigError struct {
	Searched []string // the candidate files, which do not exist or are empty
}

func (e *NoConfigError) Error() string {
	searched := strings.Join(e.Searched, ", ")
	if searched != "" {
		searched = " in " + searched
	}
	return "no configuration was found" + searched +
		", and this is not a pod: give a file with --kubeconfig or in the variable KUBECONFIG"
}

// Error reports a context, cluster or user that cannot work, or a pod without a usable service
// account (KUBERNETES_SERVICE_HOST is set). Its text is a sentence with advice.
type Error struct {
	Text string
	Err  error // may be nil
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }

// entryError returns the error of a cluster, user or context. file may be empty if one file was
// read; problem is a clause with advice.
func entryError(entry, name, file string, info *Info, problem string, err error) error {
	file = cmp.Or(file, strings.Join(info.Files, ", "))
	return &Error{Text: fmt.Sprintf("the %s %q in %s %s", entry, name, file, problem), Err: err}
}

// contextError returns the error of a context that does not exist, or, without a name, of no
// current-context. known are the names of the defined contexts, sorted.
func contextError(name string, known, files []string) error {
	place := cmp.Or(strings.Join(files, ", "), "any kubeconfig file")
	advice := "define one there"
	if len(known) > 0 {
		advice = `choose one of "` + strings.Join(known, `", "`) + `" with --context`
	}
	problem := "no context is selected in"
	if name != "" {
		problem = fmt.Sprintf("the context %q does not exist in", name)
	}
	return &Error{Text: fmt.Sprintf("%s %s: %s", problem, place, advice)}
}

// podError returns the error of a pod without a usable service account.
func podError(err error) error {
	return &Error{Text: fmt.Sprintf("this is a pod without a usable service account (%v): "+
		"set automountServiceAccountToken, or give a file with --kubeconfig", err), Err: err}
}

// yamlLine matches the line number in errors of package yaml. Those errors may quote the file,
// which is full of secrets, so only the number is used.
var yamlLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s+)?line (\d+): `)

// yamlError returns the error of a file that package yaml rejects.
func yamlError(path string, err error, problem string) error {
	parseError := &ParseError{Path: path, Problem: problem}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		parseError.Line, _ = strconv.Atoi(found[1])
	}
	return parseError
}
