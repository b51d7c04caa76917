// Package debugserver serves the metrics, health and state of a process over HTTP.
//
// # Concept
//
//	/metrics        for Prometheus
//	/livez          does the process work? If not, it should be restarted
//	/readyz         does it know the cluster?
//	/healthz        the same as /livez, under its old name
//	/debug/orrery   the snapshots of all gears as one JSON document
//	/debug/pprof/   profiles of the Go runtime, if enabled
//
// Health is a list of named checks with the interface of kube-apiserver: the answer is "ok", or
// with ?verbose a line for each check; /readyz/NAME runs one. Unlike kube-apiserver, a failed check
// gives its reason.
//
// # Guarantees
//
// The server is read-only: it refuses other methods than GET and HEAD, except for the symbol table
// of pprof. It shows the gears to one client at a time.
//
// It refuses requests that name another host than the loopback address or Config.Address, or that
// come from another page, see package hostcheck. There is no login and no encryption, so the
// default address is the loopback one. A client that reaches it learns the names of namespaces from
// /debug/orrery, but no secrets, and can cost the process some time.
//
// # Goroutines
//
// [Start] starts one that accepts connections, and net/http one for each of them. [Server.Stop]
// ends them.
//
// # Failure
//
// Start returns an error if it cannot listen. Later failures do not affect the process.
//
// # Testing
//
// Tests send the requests of curl, the kubelet and Prometheus to a real server on a free port;
// goleak checks that nothing is left.
//
// Next: package internal/observe/logs
package debugserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"strings"
	"time"

	"orrery/internal/app/hostcheck"
)

// Config is what a server needs. Address is required.
type Config struct {
	// Address is the host and port to listen on; port 0 is any free port.
	Address string
	// Metrics answers /metrics. Default: there is no /metrics.
	Metrics http.Handler
	// Profiling adds /debug/pprof.
	Profiling bool
}

// Server shows the state of a process over HTTP. Its methods may be called from any goroutine.
type Server struct {
	listener net.Listener
	http     *http.Server
	served   chan struct{} // closed when the goroutine that accepts has ended

	live, ready *checks
	gears       *gears
}

// Limits for clients, since the process has more important work.
const (
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
	maxHeaderBytes = 16 << 10
	stopTimeout    = time.Second
)

// Start listens and serves until Stop.
func Start(config Config) (*Server, error) {
	listener, err := net.Listen("tcp", config.Address)
	if err != nil {
		if failed, ok := errors.AsType[*os.SyscallError](err); ok {
			err = failed.Err // without the system call and another address
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", config.Address, err)
	}
	s := &Server{
		listener: listener, served: make(chan struct{}), live: newChecks(), ready: newChecks(), gears: &gears{},
	}
	s.http = &http.Server{
		Handler:           s.handler(config),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(io.Discard, "", 0), // the errors of clients
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // an error means that nothing can be accepted any more; the process goes on
	}()
	return s, nil
}

// Addr returns the host and port that the server listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Stop ends the server. It waits up to a second for answers in progress, then closes their
// connections. It may be called more than once.
func (s *Server) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	<-s.served
}

// Live adds a check to /livez. The kubelet restarts a process whose check fails, so a check must
// depend on nothing outside the process.
func (s *Server) Live(name string, check func() error) { s.live.add(name, check) }

// Ready adds a check to /readyz.
func (s *Server) Ready(name string, check func() error) { s.ready.add(name, check) }

// Show adds a gear to /debug/orrery, which shows the result of snapshot as JSON. The result must be
// plain data that does not change and contains no secret. A name such as "informer/pods" puts the
// gear into the group "informer".
func (s *Server) Show(name string, snapshot func() any) { s.gears.add(name, snapshot) }

func (s *Server) handler(config Config) http.Handler {
	mux := http.NewServeMux()
	if config.Metrics != nil {
		mux.Handle("GET /metrics", config.Metrics)
	}
	for path, health := range map[string]*checks{"/livez": s.live, "/healthz": s.live, "/readyz": s.ready} {
		mux.Handle("GET "+path, health)
		mux.Handle("GET "+path+"/", health)
	}
	mux.Handle("GET /debug/orrery", s.gears)
	if config.Profiling { // with this mux, not with the default one
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol) // go tool pprof sends a POST
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return hostcheck.Guard(restricted(mux), config.Address)
}

// restricted sets the time limit of an answer, and headers that restrict browsers.
func restricted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !strings.HasPrefix(r.URL.Path, "/debug/pprof/") { // a profile takes as long as requested
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

func sendText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}
