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
//	/               a list of these pages and of the gears
//
// Health is a list of named checks with the interface of kube-apiserver: the answer is "ok", or
// with ?verbose a line for each check; /readyz/NAME runs one. Unlike kube-apiserver, a failed check
// gives its reason.
//
// # Guarantees
//
// The server is read-only: it refuses other methods than GET and HEAD, except for the symbol table
// of pprof. It limits concurrent answers of costly pages.
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
	// Title is the first line of the index. Default: none.
	Title string
	// Metrics writes the answer of /metrics, in Prometheus' text format. It returns the writer's
	// error. Default: there is no /metrics.
	Metrics func(io.Writer) error
	// Profiling adds /debug/pprof.
	Profiling bool
}

// Server shows the state of a process over HTTP. Its methods may be called from any goroutine.
type Server struct {
	listener net.Listener
	http     *http.Server
	served   chan struct{} // closed when the goroutine that accepts has ended
	title    string
	pages    []page

	live, ready *checks
	gears       *gears
}

// page is a line of the index.
type page struct{ path, about string }

// Limits for clients, since the process has more important work.
const (
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
	maxHeaderBytes = 16 << 10
	atATime        = 4 // concurrent answers of each costly page
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
		listener: listener, served: make(chan struct{}), title: config.Title,
		live: newChecks(), ready: newChecks(), gears: &gears{},
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
	add := func(path, about string, handler http.Handler) {
		mux.Handle(path, handler)
		s.pages = append(s.pages, page{path: path, about: about})
	}
	if config.Metrics != nil {
		add("/metrics", "metrics, for Prometheus", limited(metricsHandler(config.Metrics)))
	}
	add("/livez", "does the process work? (?verbose)", s.live)
	add("/readyz", "does it know the cluster? (?verbose)", s.ready)
	add("/healthz", "the same as /livez", s.live)
	mux.Handle("/livez/", s.live)
	mux.Handle("/readyz/", s.ready)
	mux.Handle("/healthz/", s.live)
	add("/debug/orrery", "what every gear is doing, as JSON (?gear=NAME, ?pretty)", limited(s.gears))
	if config.Profiling {
		profiling(mux)
		s.pages = append(s.pages, page{path: "/debug/pprof/", about: "profiles, for go tool pprof"})
	}
	mux.HandleFunc("/{$}", s.index)
	return hostcheck.Guard(readOnly(mux), config.Address)
}

// index lists every page, and then every gear.
func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	var text strings.Builder
	if s.title != "" {
		fmt.Fprintf(&text, "%s\n\n", s.title)
	}
	for _, p := range s.pages {
		fmt.Fprintf(&text, "%-16s %s\n", p.path, p.about)
	}
	for _, g := range s.gears.all() {
		fmt.Fprintf(&text, "/debug/orrery?pretty&gear=%s\n", g.name)
	}
	sendText(w, http.StatusOK, text.String())
}

// readOnly refuses every method but GET and HEAD, and sets headers that restrict browsers.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		asks := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !asks && !strings.HasPrefix(r.URL.Path, "/debug/pprof/symbol") { // go tool pprof posts to it
			w.Header().Set("Allow", "GET, HEAD")
			sendText(w, http.StatusMethodNotAllowed, "only GET and HEAD are allowed\n")
			return
		}
		if !strings.HasPrefix(r.URL.Path, "/debug/pprof/") { // a profile takes as long as requested
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// limited bounds the number of concurrent answers, each of which holds a copy of what it shows.
func limited(next http.Handler) http.Handler {
	slots := make(chan struct{}, atATime)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			sendText(w, http.StatusServiceUnavailable, "too many requests for this page at the same time\n")
		}
	})
}

// metricsHandler serves metrics uncompressed, since scrapers are near.
func metricsHandler(write func(io.Writer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = write(w) // an error means that the client has gone
	})
}

// profiling registers the handlers of net/http/pprof with this mux, not with the default one.
func profiling(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
}

func sendText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}
