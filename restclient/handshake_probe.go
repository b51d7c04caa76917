package restclient

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

// probeTimeout is how long a probe waits for a verdict. It is only spent on a server that breaks every connection without
// saying why.
const probeTimeout = 2 * time.Second

// probeHandshake finds out why a server breaks fresh connections. Since TLS 1.3 a server's verdict on our certificate
// comes after our half of the handshake, when net/http is already writing a request; depending on who is faster, the
// error that it reports is the verdict or something that says nothing at all. So when no request has ever succeeded and
// the error says nothing, one more handshake is made by hand, and its verdict returned. Nil means that it went well, or
// that nothing more was learnt.
func (p *pool) probeHandshake(ctx context.Context, u *url.URL) error {
	if u.Scheme != "https" || p.proven.Load() {
		return nil
	}
	if proxy, err := p.proxy(&http.Request{URL: u, Header: http.Header{}}); err != nil || proxy != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	raw, err := p.connections.dialContext(ctx, "tcp", hostPort(u))
	if err != nil {
		return nil
	}
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { raw.Close() })() // ends a read that waits
	cfg := p.tlsConfig("http/1.1")
	if cfg.ServerName == "" {
		cfg.ServerName = u.Hostname()
	}
	conn := tls.Client(raw, cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		return verdict(err)
	}
	// A server that accepts us waits for a request now. One that does not says so.
	_, err = conn.Read(make([]byte, 1))
	return verdict(err)
}

// verdict keeps an error only if it explains something.
func verdict(err error) error {
	if err == nil {
		return nil
	}
	marked, ok := errors.AsType[*markedError](err)
	if ok {
		return marked
	}
	if _, ok := certificateKind(err); ok {
		return err
	}
	return nil
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}
