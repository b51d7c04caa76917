package restclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orrery/restclient/api"
)

// pool owns the connections. It replaces the http.Transport when the certificate authority's file
// or the client certificate has changed: existing connections keep the old material.
type pool struct {
	// Immutable.
	cfg         Config // with a Proxy
	connections *connections

	withoutPings atomic.Bool // the protocol of the last answer has no pings

	mu          sync.Mutex // guards the fields below; not held while calling Credentials
	transport   *http.Transport
	lastAnswer  time.Time   // of a request over transport; zero: none
	tlsBase     *tls.Config // the base of transport; net/http changes its own copy
	caData      []byte
	certificate *tls.Certificate // of the last handshake
	handshaken  bool
	checked     time.Time
}

// send sends a request over the current transport.
func (p *pool) send(hr *http.Request) (*http.Response, error) {
	transport, sent := p.current(), time.Now()
	var way http.RoundTripper = transport // unlike an http.Client it follows no redirect
	if p.cfg.WrapTransport != nil {
		way = p.cfg.WrapTransport(transport)
	}
	answer, err := way.RoundTrip(hr)
	switch ctx := hr.Context(); {
	case err == nil:
		p.answered(transport)
	case ctx.Err() == context.DeadlineExceeded, context.Cause(ctx) == errSilence:
		p.unanswered(transport, sent)
	}
	return answer, err
}

// current returns the transport, after a look at the certificates if one is due.
func (p *pool) current() *http.Transport {
	p.mu.Lock()
	due := time.Since(p.checked) >= tlsCheckInterval
	if due {
		p.checked = time.Now()
	}
	transport := p.transport
	p.mu.Unlock()
	if !due {
		return transport
	}
	p.renewIfChanged()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.transport
}

func (p *pool) answered(transport *http.Transport) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.transport == transport {
		p.lastAnswer = time.Now()
	}
}

// proxy returns the proxy for a request, nil for none.
func (p *pool) proxy(req *http.Request) (*url.URL, error) {
	u, err := p.cfg.Proxy(req)
	if err != nil {
		return nil, &markedError{kind: ProxyFailed, err: err}
	}
	return u, nil
}

// connections are the open connections of a client. net/http closes only idle ones: an HTTP/2
// connection whose last stream was just cancelled would stay for a minute and a half. So
// connections and their users are counted here, and after close none outlives its last user.
type connections struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu      sync.Mutex // guards the fields below
	open    map[*connection]struct{}
	users   int  // requests and watches in progress
	closing bool // unused connections are closed
}

// connection notifies its owner when it is closed.
type connection struct {
	net.Conn
	owner *connections
}

func (c *connections) dialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: raw, owner: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing && c.users == 0 { // the request has given up meanwhile; net/http would keep the connection as idle
		raw.Close()
		return nil, net.ErrClosed
	}
	c.open[conn] = struct{}{}
	return conn, nil
}

func (c *connection) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// use must be called before connections are used, and release afterwards.
func (c *connections) use()     { c.change(func() { c.users++ }) }
func (c *connections) release() { c.change(func() { c.users-- }) }

// close closes every unused connection, now and whenever the last user releases them.
func (c *connections) close() { c.change(func() { c.closing = true }) }

func (c *connections) change(how func()) {
	c.mu.Lock()
	how()
	var unused []*connection
	if c.closing && c.users == 0 {
		unused = slices.Collect(maps.Keys(c.open))
	}
	c.mu.Unlock()
	for _, conn := range unused { // Close removes it from c.open
		conn.Close()
	}
}

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

// Dialer returns the dialer of a nil Dial.
func (c Config) Dialer() *net.Dialer {
	c = withDefaults(c)
	return &net.Dialer{Timeout: dialTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: c.PingInterval, Interval: c.PingTimeout / keepAliveProbes, Count: keepAliveProbes,
	}}
}

func newPool(cfg Config) (*pool, error) {
	if cfg.Proxy == nil {
		cfg.Proxy = http.ProxyFromEnvironment
	}
	p := &pool{cfg: cfg, checked: time.Now()}
	dial := cfg.Dial
	if dial == nil {
		dial = cfg.Dialer().DialContext
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
			if len(p.cfg.TLS.CAData) == 0 {
				return nil, &ConfigError{Field: "TLS.CAFile", Problem: p.cfg.TLS.CAFile + " contains no PEM certificate"}
			}
			return nil,
				&ConfigError{Field: "TLS", Problem: "has certificate authority data that contains no PEM certificate"}
		}
	}
	if p.cfg.Credentials != nil {
		cfg.GetClientCertificate = p.clientCertificate
	}
	return cfg, nil
}

// clientCertificate returns the certificate for a handshake. An empty certificate means "none".
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

// tlsConfig returns a copy of the current TLS configuration for a connection with these protocols.
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
// If no other request has been answered since this one was sent, new requests get new connections:
// HTTP/2 sends no ping while the events of a watch arrive, even if the way to the server is dead. A
// transport without any answer may still be connecting, and is kept.
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
