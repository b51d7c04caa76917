package apiserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync"
	"time"
)

// outgoing holds the connections to webhooks.
type outgoing struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu         sync.Mutex
	transports map[destination]*http.Transport // guarded by mu; nil after close
}

// destination is what distinguishes transports.
type destination struct {
	// serverName is what the certificate must be valid for; "" means the host of the URL.
	serverName string
	// authorities are PEM certificates; "" means those of the system.
	authorities string
	// address is where to connect to whatever the host of the URL; "" means to that host.
	address string
}

func newOutgoing(config Config) *outgoing {
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return &outgoing{dial: dial, transports: map[destination]*http.Transport{}}
}

// to returns the transport for a destination.
func (o *outgoing) to(d destination) *http.Transport {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.transports[d]; known != nil {
		return known
	}
	config := &tls.Config{ServerName: d.serverName, MinVersion: tls.VersionTLS12}
	if d.authorities != "" {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM([]byte(d.authorities))
	}
	dial := o.dial
	if d.address != "" {
		dial = func(ctx context.Context, network, _ string) (net.Conn, error) { return o.dial(ctx, network, d.address) }
	}
	made := &http.Transport{
		DialContext: dial, TLSClientConfig: config, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: idleTimeout, DisableCompression: true,
	}
	if o.transports == nil {
		made.DisableKeepAlives = true // closed: leave no connection behind
		return made
	}
	o.transports[d] = made
	return made
}

// close closes all idle connections. Later transports keep none.
func (o *outgoing) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, transport := range o.transports {
		transport.CloseIdleConnections()
	}
	o.transports = nil
}

// webhookTransport returns the transport for calls of a webhook.
func (s *Server) webhookTransport(serverName, address string, authorities []byte) http.RoundTripper {
	return s.outgoing.to(destination{serverName: serverName, address: address, authorities: string(authorities)})
}
