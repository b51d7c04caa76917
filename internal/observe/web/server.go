package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"orrery/internal/app/program"
)

// defaultPort is the port of the page unless it is taken.
const defaultPort = 7070

// ViewConfig configures a server.
type ViewConfig struct {
	// Port is the port on the loopback interface; 0: defaultPort, or a free one if that is taken.
	Port int
	// Source, if not nil, is the run that the page shows as it goes on.
	Source Source
	// Control, if not nil, holds the run of Source. Every page may send it commands.
	Control Control
	// Recording, if not nil and without a Source, opens the file that the page shows. The server
	// closes it.
	Recording func() (io.ReadCloser, error)
	// Code is where the page finds the functions of the gears.
	Code Code
}

// View serves the page. [StartView] returns one. Its methods may be called from any goroutine.
type View struct {
	// Immutable.
	config ViewConfig
	token  string // of one run, with at least 128 random bits
	port   int
	server *server
	hub    *hub

	door atomic.Pointer[string] // the name of the file of newDoor
}

// StartView listens and serves until Stop.
func StartView(config ViewConfig) (*View, error) {
	listener, err := listen(config.Port)
	if err != nil {
		return nil, err
	}
	s := &View{
		config: config, token: rand.Text(), port: listener.Addr().(*net.TCPAddr).Port,
		hub: newHub(config.Source, config.Control),
	}
	s.server = serve(listener, s.handler(), 0) // a websocket lives as long as its page
	return s, nil
}

// server is a server over HTTP, with limits for its clients.
type server struct {
	listener net.Listener
	http     *http.Server
	served   chan struct{} // closed when the goroutine that accepts has ended
}

// serve serves until stop. readTimeout limits the reading of a whole request; 0: no limit.
func serve(listener net.Listener, handler http.Handler, readTimeout time.Duration) *server {
	s := &server{listener: listener, served: make(chan struct{}), http: &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTimeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // the errors of clients
	}}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // an error means that nothing can be accepted any more; the process goes on
	}()
	return s
}

// stop closes all connections and waits for the goroutine.
func (s *server) stop() {
	_ = s.http.Close()
	<-s.served
}

// listen listens on the port, or on the default one and otherwise a free one.
func listen(port int) (net.Listener, error) {
	open := func(port int) (net.Listener, error) {
		return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	if port == 0 {
		if listener, err := open(defaultPort); err == nil {
			return listener, nil
		}
		return open(0)
	}
	listener, err := open(port)
	if err != nil {
		return nil, fmt.Errorf("port %d is in use by another program; choose another one with --view-port", port)
	}
	return listener, nil
}

// URL returns the address of the page, with its token.
func (s *View) URL() string {
	query := url.Values{"token": {s.token}}
	if s.config.Source == nil && s.config.Recording != nil {
		query.Set("recording", "") // for the page
	}
	return fmt.Sprintf("http://127.0.0.1:%d/?%s", s.port, query.Encode())
}

// Stop sends the clients what has happened so far, ends the server, and waits for its goroutines.
func (s *View) Stop() {
	s.hub.stop()
	s.server.stop()
	if door := s.door.Swap(nil); door != nil {
		_ = os.Remove(*door)
	}
}

func (s *View) handler() http.Handler {
	mux := http.NewServeMux()
	files := http.FileServerFS(pageFS())
	index, policy := servedIndex()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, index)
	})
	for _, name := range append(moduleNames(), "style.css") {
		mux.Handle("GET /"+name, files)
	}
	mux.HandleFunc("GET /code", withToken(s.token, s.serveCode))
	switch {
	case s.config.Source != nil:
		mux.HandleFunc("GET /socket", withToken(s.token, s.hub.serveSocket))
		mux.HandleFunc("GET /trace", withToken(s.token, s.hub.serveLines))
	case s.config.Recording != nil:
		mux.HandleFunc("GET /recording", withToken(s.token, s.serveRecording))
	}
	return program.Guard(restricted(mux))
}

// restricted sets headers that restrict browsers.
func restricted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

func (s *View) serveRecording(w http.ResponseWriter, _ *http.Request) {
	file, err := s.config.Recording()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.Copy(w, file) // an error means that the client has gone
}

// serveCode sends the function of each event, for the gears that the page shows.
func (s *View) serveCode(w http.ResponseWriter, r *http.Request) {
	found, err := s.config.Code.Find(r.URL.Query().Get("gears"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(found) // an error means that the client has gone
}

// withToken passes requests to next whose parameter "token" is the right one. Any page in any
// browser of this machine can send requests to a loopback port, but only one that was opened with
// the printed address knows the token.
func withToken(token string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(token)) != 1 {
			http.Error(w, "the token is missing or wrong: open the address that the program printed",
				http.StatusForbidden)
			return
		}
		next(w, r)
	}
}
