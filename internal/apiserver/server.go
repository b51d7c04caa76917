package apiserver

import (
	"context"
	"net"
	"net/http"
)

// Server is an API server. [New] makes one; it may be used from any goroutine.
type Server struct {
	config Config
}

// New makes a server with an empty store, and starts its garbage collector and kubelet. It does not listen yet. A server
// that has been made must be stopped.
func New(config Config) (*Server, error) { return &Server{config: config}, nil }

// Start listens on [Config.Listen] and serves connections until [Server.Stop]. The context bounds only the start. An address
// that is in use is a *[net.OpError].
func (s *Server) Start(ctx context.Context) error { return nil }

// Serve serves the connections of a listener, which it closes in the end, until [Server.Stop] or until the listener fails. It
// speaks TLS if [Config.TLS] says so.
func (s *Server) Serve(listener net.Listener) error { return nil }

// Handler is the server without its listener, for tests that bring connections of their own.
func (s *Server) Handler() http.Handler { return http.NotFoundHandler() }

// URL is the address that clients reach the server by, "https://127.0.0.1:6443"; "" before Start.
func (s *Server) URL() string { return "" }

// Token is the bearer token of the server's administrator.
func (s *Server) Token() string { return "" }

// CertificateAuthority is the PEM certificate of the authority that signed the server's own; nil without TLS.
func (s *Server) CertificateAuthority() []byte { return nil }

// Kubeconfig is a configuration with which kubectl and its like reach the server as its administrator: with its token, and
// with a client certificate as well if it speaks TLS.
func (s *Server) Kubeconfig() []byte { return nil }

// WriteKubeconfig writes [Server.Kubeconfig] to a file that only its owner may read. A reader sees the old file or the new
// one, never a part.
func (s *Server) WriteKubeconfig(path string) error { return nil }

// Stop ends the server: it stops listening, ends watches in good order, waits for requests that are under way until ctx
// ends, and then breaks them off. When it returns no goroutine is left. Calling it again does nothing.
func (s *Server) Stop(ctx context.Context) error { return nil }

// Snapshot is what goes on in the server at the moment.
func (s *Server) Snapshot() Snapshot { return Snapshot{} }
