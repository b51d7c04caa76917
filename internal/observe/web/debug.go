package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"strings"
	"time"

	"orrery/internal/app/program"
)

// DebugConfig is what a server needs. Address is required.
type DebugConfig struct {
	// Address is the host and port to listen on; port 0 is any free port.
	Address string
	// Metrics answers /metrics. Default: there is no /metrics.
	Metrics http.Handler
	// Profiling adds /debug/pprof.
	Profiling bool
}

// DebugServer shows the state of a process over HTTP. Its methods may be called from any goroutine.
type DebugServer struct {
	server      *server
	live, ready *checks
	gears       *snapshots
}

const (
	debugWriteTimeout = 30 * time.Second
	stopTimeout       = time.Second
)

// StartDebug listens and serves until Stop.
func StartDebug(config DebugConfig) (*DebugServer, error) {
	listener, err := net.Listen("tcp", config.Address)
	if err != nil {
		if failed, ok := errors.AsType[*os.SyscallError](err); ok {
			err = failed.Err // without the system call and another address
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", config.Address, err)
	}
	s := &DebugServer{live: newChecks(), ready: newChecks(), gears: &snapshots{}}
	s.server = serve(listener, s.handler(config), 10*time.Second)
	return s, nil
}

// Addr returns the host and port that the server listens on.
func (s *DebugServer) Addr() string { return s.server.listener.Addr().String() }

// Stop ends the server. It waits up to a second for answers in progress, then closes their
// connections. It may be called more than once.
func (s *DebugServer) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_ = s.server.http.Shutdown(ctx) // stop closes what is left
	s.server.stop()
}

// Live adds a check to /livez. The kubelet restarts a process whose check fails, so a check must
// depend on nothing outside the process.
func (s *DebugServer) Live(name string, check func() error) { s.live.add(name, check) }

// Ready adds a check to /readyz.
func (s *DebugServer) Ready(name string, check func() error) { s.ready.add(name, check) }

// Show adds a gear to /debug/orrery, which shows the result of snapshot as JSON. The result must be
// plain data that does not change and contains no secret. A name such as "informer/pods" puts the
// gear into the group "informer".
func (s *DebugServer) Show(name string, snapshot func() any) { s.gears.add(name, snapshot) }

func (s *DebugServer) handler(config DebugConfig) http.Handler {
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
	return program.Guard(limited(restricted(mux)), config.Address)
}

// limited sets the time limit of an answer.
func limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/debug/pprof/") { // a profile takes as long as requested
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(debugWriteTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

func sendText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}
