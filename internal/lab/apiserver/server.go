package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"orrery/internal/hostcheck"
	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/internal/lab/apiserver/stream"
)

// Server is an API server. [New] makes one; it may be used from any goroutine.
type Server struct {
	// Immutable.
	config        Config
	trace         *Trace
	identity      *identity
	authenticator *authn.Authenticator
	store         *store.Store
	catalog       *resources.Catalog
	registry      *registry.Registry
	faults        *faults.Set
	documents     *documents
	http          *http.Server
	handler       http.Handler
	begun         time.Time

	counters
	cuts cuts
	gate gate

	// ending is closed by Stop: watches end, and the server's own goroutines with them.
	ending     chan struct{}
	background sync.WaitGroup
	stopOnce   sync.Once
	stopErr    error

	// mu guards the fields below.
	mu      sync.Mutex
	address string // "" before Start
	stopped bool
}

// Start listens on [Config.Listen] and serves connections until [Server.Stop]. The context bounds only the start. An address
// that is in use is a *[net.OpError]. A server that takes everybody for the administrator refuses requests under another
// host's name (package hostcheck).
func (s *Server) Start(ctx context.Context) error {
	address := s.config.Listen
	if address == "" {
		address = defaultListen
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		listener.Close()
		return http.ErrServerClosed
	}
	s.address = listener.Addr().String()
	if s.config.Unprotected { // a page in a browser has no credentials either
		s.http.Handler = hostcheck.Guard(s.handler, append([]string{address}, s.config.Hosts...)...)
	}
	s.background.Go(func() { s.Serve(listener) })
	return nil
}

const defaultListen = "127.0.0.1:0"

// Serve serves the connections of a listener, which it closes in the end, until [Server.Stop] or until the listener fails. It
// speaks TLS if [Config.TLS] says so.
func (s *Server) Serve(listener net.Listener) error {
	var err error
	if s.config.TLS {
		err = s.http.ServeTLS(listener, "", "")
	} else {
		err = s.http.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Handler is the server without its listener, for tests that bring connections of their own.
func (s *Server) Handler() http.Handler { return s.handler }

// URL is the address that clients reach the server by, "https://127.0.0.1:6443"; "" before Start.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.address == "" {
		return ""
	}
	scheme := "http"
	if s.config.TLS {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: s.address}).String()
}

// Token is the bearer token of the server's administrator.
func (s *Server) Token() string { return s.identity.token }

// CertificateAuthority is the PEM certificate of the authority that signed the server's own; nil without TLS.
func (s *Server) CertificateAuthority() []byte {
	if !s.config.TLS {
		return nil
	}
	return s.identity.authority.PEM()
}

// Store is where the objects are.
func (s *Server) Store() *store.Store { return s.store }

// Catalog is what the server knows of resources, custom ones included.
func (s *Server) Catalog() *resources.Catalog { return s.catalog }

// Registry is where requests about objects end up; who uses it does without HTTP.
func (s *Server) Registry() *registry.Registry { return s.registry }

// Faults are the faults that are on.
func (s *Server) Faults() *faults.Set { return s.faults }

// Stop ends the server: it stops listening, ends watches in good order, waits for requests that are under way until ctx
// ends, and then breaks them off. When it returns no goroutine is left. Calling it again does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		s.gate.close()
		close(s.ending)
		s.faults.Stop()
		if s.stopErr = s.http.Shutdown(ctx); s.stopErr != nil {
			s.http.Close()
		}
		s.gate.wait()
		s.background.Wait()
	})
	return s.stopErr
}

// stopping tells whether Stop has been called.
func (s *Server) stopping() bool {
	select {
	case <-s.ending:
		return true
	default:
		return false
	}
}

// The limits of a connection. A client that sends its request byte by byte is cut after headerTimeout or bodyTimeout, and after
// lingerTimeout if the answer does not depend on the body; one that
// keeps a connection without using it after idleTimeout, as in kube-apiserver.
const (
	headerTimeout   = 32 * time.Second
	bodyTimeout     = 60 * time.Second
	lingerTimeout   = 5 * time.Second
	idleTimeout     = 90 * time.Second
	largestHeader   = 1 << 20
	largestBody     = 3 << 20
	streamsPerHTTP2 = 1000
)

// newHTTPServer makes the server that Serve runs.
func (s *Server) newHTTPServer() *http.Server {
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    largestHeader,
		ConnContext:       stream.ConnContext,
		// What net/http logs are clients that break off and handshakes that fail: their affair.
		ErrorLog: log.New(io.Discard, "", 0),
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: streamsPerHTTP2},
	}
	if s.config.TLS {
		server.TLSConfig = s.identity.tlsConfig()
	} else {
		server.TLSConfig = &tls.Config{}
	}
	return server
}
