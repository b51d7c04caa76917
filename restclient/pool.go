package restclient

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pool owns the connections. It replaces the http.Transport when the certificate authority's file
// or the client certificate has changed: existing connections keep the old material. The old
// transport's idle connections are closed at once, the others after their last request.
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

// connections are the open connections of a client.
//
// net/http closes only idle connections. An HTTP/2 connection whose last stream was just cancelled
// is not yet idle, and would stay for a minute and a half. So connections and their users are
// counted here, and after close none outlives its last user.
type connections struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu      sync.Mutex // guards the fields below
	open    map[*connection]struct{}
	users   int  // requests and watches in progress
	closing bool // unused connections are closed
}

// connection is a net.Conn that notifies its owner when it is closed.
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

// Close closes the connection. Further calls do nothing.
func (c *connection) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// use must be called before connections are used, and release afterwards.
func (c *connections) use() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users++
}

func (c *connections) release() {
	c.mu.Lock()
	c.users--
	c.mu.Unlock()
	c.closeUnused()
}

// close closes every unused connection, now and whenever the last user releases them.
func (c *connections) close() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.closeUnused()
}

func (c *connections) closeUnused() {
	c.mu.Lock()
	var unused []*connection
	if c.closing && c.users == 0 {
		unused = slices.Collect(maps.Keys(c.open))
	}
	c.mu.Unlock()
	for _, conn := range unused { // Close removes it from c.open
		conn.Close()
	}
}
