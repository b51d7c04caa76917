package restclienttest

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"

	"orrery/restclient"
)

// Server is an HTTP server over in-memory connections.
type Server struct {
	// Immutable.
	t         testing.TB
	url       string
	authority *Authority // nil: plain HTTP
	listener  *Listener
	http      *http.Server

	mu       sync.Mutex // guards the fields below
	refusing bool
	links    map[*link]bool // open connections, client side
	requests []Recorded
	dialled  int
	serving  int        // running handlers
	idle     *sync.Cond // signalled when serving becomes 0
}

// Recorded is a request as the server received it.
type Recorded struct {
	Method, Path string
	Query        url.Values
	Header       http.Header
}

// NewServer returns a new server that runs until the test ends.
func NewServer(t testing.TB, handler http.Handler) *Server {
	t.Helper()
	return start(t, handler, "http://apiserver.test", nil, nil)
}

// NewTLSServer returns a new server that speaks TLS (HTTP/2 and HTTP/1.1) with a certificate for
// "apiserver.test" from the authority. It verifies client certificates with the same authority if
// clients send them. adjust, if not nil, may change the configuration.
func NewTLSServer(t testing.TB, handler http.Handler, authority *Authority, adjust func(*tls.Config)) *Server {
	t.Helper()
	cfg := &tls.Config{
		Certificates: []tls.Certificate{*authority.Issue(t,
			Leaf{Name: "apiserver.test", Hosts: []string{"apiserver.test"}})},
		ClientCAs:  authority.Pool(),
		ClientAuth: tls.VerifyClientCertIfGiven,
	}
	if adjust != nil {
		adjust(cfg)
	}
	return start(t, handler, "https://apiserver.test", authority, cfg)
}

func start(t testing.TB, handler http.Handler, address string, authority *Authority, tlsConfig *tls.Config) *Server {
	s := &Server{
		t: t, url: address, authority: authority,
		listener: NewListener(),
		links:    map[*link]bool{},
	}
	s.idle = sync.NewCond(&s.mu)
	s.http = &http.Server{
		Handler:   s.record(handler),
		TLSConfig: tlsConfig,
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	var done sync.WaitGroup
	done.Go(func() {
		if tlsConfig != nil {
			s.http.ServeTLS(s.listener, "", "")
		} else {
			s.http.Serve(s.listener)
		}
	})
	t.Cleanup(func() {
		s.http.Close()
		s.CloseConnections()
		s.waitForHandlers()
		done.Wait()
	})
	return s
}

// URL returns the address of the server for clients that use Dial.
func (s *Server) URL() string { return s.url }

// Config returns the configuration of a client of the server, without a rate limit.
func (s *Server) Config() restclient.Config {
	cfg := restclient.Config{
		Host:  s.url,
		Dial:  s.Dial,
		QPS:   -1,
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
	}
	if s.authority != nil {
		cfg.TLS.CAData = s.authority.PEM()
	}
	return cfg
}

// Client returns a new client of the server, which is closed when the test ends. Each change is
// applied to its configuration first.
func (s *Server) Client(changes ...func(*restclient.Config)) *restclient.Client {
	s.t.Helper()
	cfg := s.Config()
	for _, change := range changes {
		change(&cfg)
	}
	client, err := restclient.New(cfg)
	if err != nil {
		s.t.Fatalf("restclient.New: %v", err)
	}
	s.t.Cleanup(client.Close)
	return client
}

// Dial connects to the server for any address.
func (s *Server) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	s.mu.Lock()
	refusing := s.refusing
	s.mu.Unlock()
	if refusing {
		return nil, refused(network)
	}
	near, err := s.listener.dial(ctx, network)
	if err != nil {
		return nil, err
	}
	l := &link{near, s.forget}
	s.mu.Lock()
	s.links[l] = true
	s.dialled++
	s.mu.Unlock()
	return l, nil
}

// Refuse makes the server refuse new connections, or accept them again.
func (s *Server) Refuse(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusing = refuse
}

// CloseConnections breaks all open connections.
func (s *Server) CloseConnections() {
	for _, l := range s.open() {
		l.Close()
	}
}

// Connections returns the number of open connections.
func (s *Server) Connections() int { return len(s.open()) }

// Dialled returns the number of connections that were ever opened.
func (s *Server) Dialled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialled
}

// Requests returns the requests so far, in order of arrival.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) open() []*link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.links))
}

func (s *Server) forget(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.links, l)
}

func (s *Server) record(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.served()
		s.mu.Lock()
		s.serving++
		s.requests = append(s.requests, Recorded{
			Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(),
		})
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	})
}

func (s *Server) served() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving--; s.serving == 0 {
		s.idle.Broadcast()
	}
}

// waitForHandlers blocks until no handler runs. Time in a bubble stands still after the test, so no
// handler may sleep.
func (s *Server) waitForHandlers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.serving > 0 {
		s.idle.Wait()
	}
}

// Bearer is a token that is also sent over an unencrypted pipe, where no third party can read it.
// The zero value is an empty token.
type Bearer string

// Apply sets the Authorization header.
func (b Bearer) Apply(r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return nil
}

// Unauthorized does nothing: the token cannot be renewed.
func (Bearer) Unauthorized(*http.Request) {}

// ClientCertificate returns nil: there is none.
func (Bearer) ClientCertificate() (*tls.Certificate, error) { return nil, nil }
