package debugserver

import (
	"io"
	"log"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"
)

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

// silent returns a logger that discards the errors of clients.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
