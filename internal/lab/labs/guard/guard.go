// Package guard is the proxy between a learner's controller and a cluster. It passes every read,
// and writes only to the namespaces that this run of "lab run" created and to the objects in them;
// other writes are answered with 403 and remembered. A wrong deleter can therefore harm nothing
// else. The proxy listens on a loopback address with TLS, and its clients need a random token. It
// adds the user's credentials, which the controller never sees. [Decide] is the decision about one
// request.
package guard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"

	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/requestinfo"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

// Proxy is a running proxy. [Proxy.Close] must be called.
type Proxy struct {
	// Immutable.
	token     string
	authority *authn.Authority
	listener  net.Listener
	server    *http.Server
	transport *http.Transport
	forward   *httputil.ReverseProxy
	served    chan struct{} // closed when the server has ended

	mu sync.Mutex // guards the fields below
	// ours are the namespaces of this run. The value reports whether one was finalized through the
	// proxy.
	ours    map[string]bool
	refused []string
}

// Start starts a proxy to the server of a client, with the client's credentials.
func Start(client *restclient.Client) (*Proxy, error) {
	config := client.Config()
	target, err := url.Parse(client.Snapshot().Host)
	if err != nil {
		return nil, err
	}
	p := &Proxy{token: rand.Text(), served: make(chan struct{}), ours: map[string]bool{}}
	if p.transport, err = newTransport(config); err != nil {
		return nil, err
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			maps.DeleteFunc(r.Out.Header, func(name string, _ []string) bool { return !passed[name] })
			r.SetURL(target)
		},
		Transport:      authenticated{p.transport, config.Credentials},
		FlushInterval:  -1, // each event of a watch at once
		ErrorLog:       log.New(io.Discard, "", 0),
		ModifyResponse: p.answered,
	}
	if p.authority, err = authn.NewAuthority(); err != nil {
		return nil, err
	}
	certificate, err := p.authority.IssueServer([]string{"127.0.0.1"})
	if err != nil {
		return nil, err
	}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	p.server = &http.Server{
		Handler: p, ErrorLog: p.forward.ErrorLog,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
	}
	go func() {
		defer close(p.served)
		p.server.ServeTLS(p.listener, "", "")
	}()
	return p, nil
}

// Close ends the proxy and all connections through it.
func (p *Proxy) Close() {
	p.server.Close()
	<-p.served
	p.transport.CloseIdleConnections()
}

// WriteKubeconfig writes a kubeconfig for the proxy, readable by its owner alone.
func (p *Proxy) WriteKubeconfig(file string) error {
	cluster := kubeconfig.Cluster{Server: p.URL(), CertificateAuthorityData: p.authority.PEM()}
	return kubeconfig.Single("lab", cluster, kubeconfig.User{Token: kubeconfig.Secret(p.token)}, "").WriteFile(file)
}

// URL returns the address of the proxy.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// Allow allows writes to a namespace, which this run must have created.
func (p *Proxy) Allow(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ours[namespace] = false
}

// Namespaces returns the namespaces of [Proxy.Allow]. The value reports whether a client of the
// proxy finalized the namespace.
func (p *Proxy) Namespaces() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.ours)
}

// Refused returns a line for each request that was refused, in their order.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused[:len(p.refused):len(p.refused)]
}

func (p *Proxy) isOurs(namespace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ours := p.ours[namespace]
	return ours
}

// ServeHTTP passes a request on or answers it with 401 or 403.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+p.token)) != 1 {
		refuse(w, http.StatusUnauthorized, api.ReasonUnauthorized, "this is not the token of this run")
		return
	}
	if why := Decide(r, p.isOurs); why != "" {
		line := fmt.Sprintf("%s %s: %s", r.Method, r.URL.Path, why)
		p.mu.Lock()
		p.refused = append(p.refused, line)
		p.mu.Unlock()
		refuse(w, http.StatusForbidden, api.ReasonForbidden, "lab run refuses "+line)
		return
	}
	if info := requestinfo.Parse(r.Method, r.URL.Path); info.Verb == "update" && info.Resource == "namespaces" && info.Subresource == "finalize" {
		r = r.WithContext(context.WithValue(r.Context(), finalizing{}, info.Name))
	}
	p.forward.ServeHTTP(w, r)
}

// finalizing is the key of the context of a request that finalizes a namespace.
type finalizing struct{}

// answered remembers a namespace that was finalized.
func (p *Proxy) answered(answer *http.Response) error {
	if name, ok := answer.Request.Context().Value(finalizing{}).(string); ok && answer.StatusCode == http.StatusOK {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ours[name] = true
	}
	return nil
}

func refuse(w http.ResponseWriter, code int, reason api.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   api.StatusFailure, Message: message, Reason: reason, Code: code,
	})
}

// passed are the headers of a request that the server gets. Authorization is not among them.
var passed = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Content-Type": true, "Content-Encoding": true, "User-Agent": true,
	"Connection": true, "Upgrade": true, "Origin": true, "Sec-Websocket-Key": true, "Sec-Websocket-Version": true,
	"Sec-Websocket-Protocol": true, "Sec-Websocket-Extensions": true,
}

// authenticated adds the user's credentials to requests.
type authenticated struct {
	http.RoundTripper
	credentials restclient.Credentials // may be nil
}

func (a authenticated) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.credentials == nil {
		return a.RoundTripper.RoundTrip(r)
	}
	if err := a.credentials.Apply(r); err != nil {
		return nil, err
	}
	answer, err := a.RoundTripper.RoundTrip(r)
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		a.credentials.Unauthorized(r) // the controller tries again
	}
	return answer, err
}

// newTransport returns a transport with the server's authority and the user's certificate.
func newTransport(config restclient.Config) (*http.Transport, error) {
	settings := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: config.TLS.ServerName, InsecureSkipVerify: config.TLS.Insecure,
	}
	authority, err := config.TLS.CAData, error(nil)
	switch {
	case config.TLS.ReadCA != nil:
		authority, err = config.TLS.ReadCA()
	case len(authority) == 0 && config.TLS.CAFile != "":
		authority, err = os.ReadFile(config.TLS.CAFile)
	}
	if err != nil {
		return nil, err
	}
	if len(authority) > 0 {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(authority) {
			return nil, errors.New("the certificate authority of the cluster is not a PEM certificate")
		}
	}
	if config.Credentials != nil {
		settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			certificate, err := config.Credentials.ClientCertificate()
			if certificate == nil {
				certificate = &tls.Certificate{}
			}
			return certificate, err
		}
	}
	proxy := config.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	return &http.Transport{
		Proxy: proxy, DialContext: config.Dial, TLSClientConfig: settings,
		ForceAttemptHTTP2: true, DisableCompression: true, // the controller decompresses
	}, nil
}
