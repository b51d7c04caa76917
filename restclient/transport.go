package restclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"orrery/restclient/api"
)

// The parameters for idle connections.
const (
	dialTimeout         = 30 * time.Second
	tlsHandshakeTimeout = 10 * time.Second
	idleConnTimeout     = 90 * time.Second
	idleConnsPerHost    = 25
	keepAliveProbes     = 3 // TCP keep-alive probes within Config.PingTimeout
	maxHeaderBytes      = 1 << 20
	tlsCheckInterval    = time.Minute // between two looks at the CA file and the client certificate
)

func newPool(cfg Config) (*pool, error) {
	if cfg.Proxy == nil {
		cfg.Proxy = http.ProxyFromEnvironment
	}
	p := &pool{cfg: cfg, checked: time.Now()}
	dial := cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout, KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: cfg.PingInterval, Interval: cfg.PingTimeout / keepAliveProbes, Count: keepAliveProbes,
		}}).DialContext
	}
	p.connections = &connections{dial: dial, open: map[*connection]struct{}{}}
	caData, err := p.readCA()
	if err != nil {
		return nil, err
	}
	if p.tlsBase, err = p.newTLSConfig(caData); err != nil {
		return nil, err
	}
	p.transport, p.caData = p.newTransport(p.tlsBase), caData
	return p, nil
}

func (p *pool) newTransport(base *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:                  p.proxy,
		OnProxyConnectResponse: proxyAnswered,
		DialContext:            p.connections.dialContext,
		TLSClientConfig:        base.Clone(),
		TLSHandshakeTimeout:    tlsHandshakeTimeout,
		MaxIdleConnsPerHost:    idleConnsPerHost,
		IdleConnTimeout:        idleConnTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     p.cfg.DisableCompression,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: p.cfg.PingInterval, PingTimeout: p.cfg.PingTimeout},
	}
}

func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &markedError{kind: ProxyFailed, err: errors.New("it answered " + api.CutText(answer.Status))}
}

func (p *pool) readCA() ([]byte, error) {
	switch {
	case p.cfg.TLS.Insecure && (len(p.cfg.TLS.CAData) > 0 || p.cfg.TLS.CAFile != ""):
		return nil, &ConfigError{Field: "TLS", Problem: "both skips verification of the server's certificate and " +
			"names a certificate authority; choose one"}
	case len(p.cfg.TLS.CAData) > 0 || p.cfg.TLS.CAFile == "":
		return p.cfg.TLS.CAData, nil
	}
	data, err := os.ReadFile(p.cfg.TLS.CAFile)
	if err != nil {
		return nil, &ConfigError{Field: "TLS.CAFile", Problem: "cannot be read", Err: err}
	}
	return data, nil
}

func (p *pool) newTLSConfig(caData []byte) (*tls.Config, error) {
	cfg := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         p.cfg.TLS.ServerName,
		InsecureSkipVerify: p.cfg.TLS.Insecure,
	}
	// A file that is temporarily empty must not make us trust the machine's authorities instead.
	if len(caData) > 0 || p.cfg.TLS.CAFile != "" {
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(caData) {
			return nil, &ConfigError{Field: "TLS", Problem: "has certificate authority data that contains no PEM certificate"}
		}
	}
	if p.cfg.Credentials != nil {
		cfg.GetClientCertificate = p.clientCertificate
	}
	return cfg, nil
}

// clientCertificate returns the certificate for a handshake. An empty certificate means "none", and
// the server decides whether to accept that.
func (p *pool) clientCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	certificate, err := p.cfg.Credentials.ClientCertificate()
	if err != nil {
		return nil, &markedError{kind: CredentialsFailed, err: err}
	}
	p.mu.Lock()
	p.certificate, p.handshaken = certificate, true
	p.mu.Unlock()
	if certificate == nil {
		return &tls.Certificate{}, nil
	}
	return certificate, nil
}

// tlsConfig returns a copy of the current TLS configuration for a connection that speaks the given
// protocols.
func (p *pool) tlsConfig(protocols ...string) *tls.Config {
	p.current()
	p.mu.Lock()
	defer p.mu.Unlock()
	cfg := p.tlsBase.Clone()
	cfg.NextProtos = protocols
	return cfg
}

// renewIfChanged checks the CA file and the client certificate, replaces the transport if one has
// changed, and reports whether it did. A file that cannot be read, or has no certificate, changes
// nothing: it is probably being written.
func (p *pool) renewIfChanged() bool {
	caData, err := p.readCA()
	p.mu.Lock()
	caChanged := err == nil && !bytes.Equal(caData, p.caData)
	certificate, handshaken := p.certificate, p.handshaken
	if !caChanged {
		caData = p.caData
	}
	p.mu.Unlock()

	certificateChanged := false
	if handshaken && p.cfg.Credentials != nil {
		now, err := p.cfg.Credentials.ClientCertificate()
		certificateChanged = err == nil && now != certificate
	}
	if !caChanged && !certificateChanged {
		return false
	}
	base, err := p.newTLSConfig(caData)
	if err != nil {
		return false
	}
	p.mu.Lock()
	old := p.transport
	p.tlsBase, p.transport, p.caData = base, p.newTransport(base), caData
	p.lastAnswer = time.Time{}
	p.handshaken, p.certificate = false, nil
	p.mu.Unlock()
	old.CloseIdleConnections()
	return true
}

// unanswered is called when the time for a request over a transport was over before an answer came.
// If no other request has been answered since this one was sent, new requests get new connections;
// those in progress continue. HTTP/2 sends no ping while the events of a watch arrive, even if the
// way to the server is dead. A transport without any answer may still be connecting, and is kept.
func (p *pool) unanswered(transport *http.Transport, sent time.Time) {
	p.mu.Lock()
	if p.transport != transport || p.lastAnswer.IsZero() || p.lastAnswer.After(sent) {
		p.mu.Unlock()
		return
	}
	p.transport, p.lastAnswer = p.newTransport(p.tlsBase), time.Time{}
	p.mu.Unlock()
	transport.CloseIdleConnections()
}

// close closes idle connections now and the others when they become idle.
func (p *pool) close() {
	p.mu.Lock()
	transport := p.transport
	p.mu.Unlock()
	transport.CloseIdleConnections()
	p.connections.close()
}
