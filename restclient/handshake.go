package restclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"orrery/restclient/api"
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

// CertificateExpiredError says why the server does not know us (401): the client certificate that we showed has expired. The
// server itself only says "Unauthorized". It wraps the server's answer.
type CertificateExpiredError struct {
	NotAfter time.Time // the last moment of the certificate
	Err      error
}

func (e *CertificateExpiredError) Error() string {
	return fmt.Sprintf("the client certificate expired at %s and has not been renewed: %v", e.NotAfter.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap returns the server's answer.
func (e *CertificateExpiredError) Unwrap() error { return e.Err }

// explainUnauthorized adds to a 401 what can be known of its reason. The time is the server's, where it tells it: it is the
// server that has found the certificate too old.
func (p *pool) explainUnauthorized(err error, date string) error {
	if api.CodeOf(err) != http.StatusUnauthorized {
		return err
	}
	p.mu.Lock()
	certificate := p.certificate
	p.mu.Unlock()
	if certificate == nil || len(certificate.Certificate) == 0 {
		return err
	}
	leaf := certificate.Leaf
	if leaf == nil {
		var problem error
		if leaf, problem = x509.ParseCertificate(certificate.Certificate[0]); problem != nil {
			return err
		}
	}
	now := time.Now()
	if serverNow, problem := http.ParseTime(date); problem == nil {
		now = serverNow
	}
	if !now.After(leaf.NotAfter) {
		return err
	}
	return &CertificateExpiredError{NotAfter: leaf.NotAfter, Err: err}
}
