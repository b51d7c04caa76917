package debugserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"orrery/internal/hostcheck"
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
		return nil, &ListenError{Address: config.Address, Err: err}
	}
	s := &Server{
		listener: listener, served: make(chan struct{}), title: config.Title,
		live: newChecks("livez"), ready: newChecks("readyz"), gears: &gears{},
	}
	s.http = &http.Server{
		Handler:           s.handler(config),
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          silent(),
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
	add("/livez", "does the process work? (?verbose, ?exclude=CHECK)", s.live)
	add("/readyz", "does it know the cluster? (?verbose, ?exclude=CHECK)", s.ready)
	add("/healthz", "the same as /livez", s.live.as("healthz"))
	mux.Handle("/livez/", s.live)
	mux.Handle("/readyz/", s.ready)
	mux.Handle("/healthz/", s.live.as("healthz"))
	add("/debug/orrery", "what every gear is doing, as JSON (?gear=NAME, ?pretty, ?all)", limited(s.gears))
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

// ListenError reports that an address cannot be listened on, usually because another process uses
// it.
type ListenError struct {
	Address string
	Err     error
}

func (e *ListenError) Error() string {
	why := e.Err
	if failed, ok := errors.AsType[*os.SyscallError](why); ok {
		why = failed.Err // without the system call and another address
	}
	return fmt.Sprintf("cannot listen on %s: %v", e.Address, why)
}

func (e *ListenError) Unwrap() error { return e.Err }
