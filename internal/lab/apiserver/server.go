// Package apiserver is a Kubernetes API server in memory, for demos, labs and tests. This package
// is the web server: it authenticates a request, parses its path, negotiates the form of the
// answer, and passes it to package registry, which implements the verbs over the versions in
// package store. Objects are encoded once, when they are written; answers and watch events copy
// those bytes.
//
//	request -> authn -> faults -> path -> resource | watch | discovery | openapi | health | debug
//	                                         |         |
//	                                         registry -+-> store
//
// [New] returns a [Server], [Server.Start] makes it listen, [Server.Kubeconfig] is what a client
// needs, and [Server.Stop] ends it and all of its goroutines. Where kube-apiserver answers with a
// Status, this server answers with the same code, reason and message. An answer is complete or its
// connection breaks. Bodies, headers and nesting are limited, and a panic in a handler becomes a
// 500.
//
// docs/operate/apiserver.md describes the faults and the deliberate gaps.
package apiserver

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
)

// Server is an API server. Create one with [New]. It is safe for concurrent use.
type Server struct {
	// Immutable, except for the documents, which have a lock.
	config    Config
	trace     Trace
	identity  *identity
	store     *store.Store
	catalog   *resources.Catalog
	registry  *registry.Registry
	faults    *faults.Set
	documents documents
	http      *http.Server
	handler   http.Handler

	inFlight, watches atomic.Int64

	// ending is closed by Stop. It ends watches and background goroutines.
	ending     chan struct{}
	background sync.WaitGroup
	stopOnce   sync.Once
	stopErr    error

	// mu guards the fields below.
	mu       sync.Mutex
	address  string // "" before Start
	stopped  bool
	requests sync.WaitGroup // those being answered; none is added once stopped is set
	cut      chan struct{}  // closed and replaced when all open watches are to break
}

// Start listens on [Config.Listen] and serves connections until [Server.Stop]. ctx bounds only the
// start. An address in use gives a *[net.OpError]. An unprotected server refuses requests for
// another host name (program.Guard).
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
	if s.config.Unprotected { // a page in a browser sends no credentials either
		s.http.Handler = program.Guard(s.handler, address)
	}
	s.background.Go(func() { s.Serve(listener) })
	return nil
}

const defaultListen = "127.0.0.1:0"

// Serve serves the connections of listener until [Server.Stop] or until the listener fails, and
// closes it. It drops the listener's error. It uses TLS if [Config.TLS] is set.
func (s *Server) Serve(listener net.Listener) {
	if s.config.TLS {
		_ = s.http.ServeTLS(listener, "", "")
	} else {
		_ = s.http.Serve(listener)
	}
}

// Handler returns the server's handler, for tests with their own connections.
func (s *Server) Handler() http.Handler { return s.handler }

// URL returns the address of the server, such as "https://127.0.0.1:6443"; "" before Start.
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

// Token returns the bearer token of the administrator.
func (s *Server) Token() string { return s.identity.token }

// CertificateAuthority returns the PEM certificate of the server's authority; nil without TLS.
func (s *Server) CertificateAuthority() []byte {
	if !s.config.TLS {
		return nil
	}
	return s.identity.authority.PEM()
}

func (s *Server) Store() *store.Store { return s.store }

// Catalog returns the resources of the server, including custom ones.
func (s *Server) Catalog() *resources.Catalog { return s.catalog }

// Registry returns the registry, for access to objects without HTTP.
func (s *Server) Registry() *registry.Registry { return s.registry }

// Faults returns the set of faults.
func (s *Server) Faults() *faults.Set { return s.faults }

// Stop stops listening, ends watches gracefully, waits for requests in flight until ctx ends, and
// then aborts them. When it returns no goroutine is left. Further calls do nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		close(s.ending)
		s.faults.Stop()
		if s.stopErr = s.http.Shutdown(ctx); s.stopErr != nil {
			s.http.Close()
		}
		s.requests.Wait() // net/http waits neither for handlers of closed connections nor for websockets
		s.background.Wait()
	})
	return s.stopErr
}

// enter admits a request, which must call s.requests.Done. It returns false after Stop.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.requests.Add(1)
	}
	return !s.stopped
}

// nextCut returns a channel that is closed when all open watches are to break.
func (s *Server) nextCut() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// cutWatches breaks the connections of all open watches.
func (s *Server) cutWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

// Snapshot describes a [Server] at one moment, for tests.
type Snapshot struct {
	// InFlight is the number of requests being answered, without watches.
	InFlight int64
	// Watches is the number of open watches.
	Watches int64
}

func (s *Server) Snapshot() Snapshot {
	return Snapshot{InFlight: s.inFlight.Load(), Watches: s.watches.Load()}
}

// The limits of a connection. A slow header is cut after headerTimeout, and an unused connection
// after idleTimeout, as in kube-apiserver.
const (
	headerTimeout   = 32 * time.Second
	idleTimeout     = 90 * time.Second
	maxHeader       = 1 << 20
	maxBody         = 3 << 20
	streamsPerHTTP2 = 1000
)

func (s *Server) newHTTPServer() *http.Server {
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnContext:       withConnection,
		// net/http logs only broken connections and failed handshakes.
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
