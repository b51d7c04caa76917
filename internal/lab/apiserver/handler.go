package apiserver

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/resources"
)

// serve serves every request: authentication, authorization, faults, routing.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	x := newExchange(s, w, r)
	if !s.enter() {
		x.refuse(resources.ServiceUnavailable("the server is shutting down"))
		return
	}
	defer s.requests.Done()
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	begun := time.Now()
	defer func() {
		broken := x.recover(recover())
		if done := s.trace.RequestDone; done != nil {
			done(x.describe(), RequestResult{Code: x.w.code, Bytes: x.w.bytes, Duration: time.Since(begun)})
		}
		if broken {
			panic(http.ErrAbortHandler)
		}
	}()
	x.w.Header().Set("Cache-Control", "no-cache, private")
	x.w.Header().Set("Audit-Id", rand.Text())
	if err := x.serve(); err != nil {
		x.refuse(err)
	}
}

// recover answers 500 after a panic. If the answer has begun it reports that the connection must
// break, so that the client does not take a part for the whole.
func (x *exchange) recover(value any) (broken bool) {
	if value == nil {
		return false
	}
	if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return x.w.code != http.StatusSwitchingProtocols
	}
	if panicked := x.server.trace.Panicked; panicked != nil {
		panicked(x.describe(), value, debug.Stack())
	}
	if x.w.begun() {
		return x.w.code != http.StatusSwitchingProtocols
	}
	x.refuse(resources.InternalError(errPanicked))
	return false
}

var errPanicked = errors.New("a handler panicked; see the log of the server")

// serve answers the request or returns the error to answer with.
func (x *exchange) serve() error {
	user, known := x.server.authenticate(x.r)
	if !known {
		return resources.Unauthorized()
	}
	var err error
	if x.user, err = impersonate(user, x.r.Header); err != nil {
		return err
	}
	x.info.User = x.user.Name
	if started := x.server.trace.RequestStarted; started != nil {
		started(x.describe())
	}
	if refused := x.server.faults.Authorize(x.info.Request); refused != nil {
		x.w.Header().Set("X-Content-Type-Options", "nosniff")
		return refused
	}
	if refused := x.server.faults.Before(x.r.Context(), x.info.Request); refused != nil {
		return refused
	}
	if err := x.r.Context().Err(); err != nil {
		return err
	}
	return x.route()
}

// route serves the path.
func (x *exchange) route() error {
	if x.info.IsResource {
		return x.serveResource()
	}
	path := x.r.URL.Path
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case path == "/version" || path == "/version/":
		return x.serveVersion()
	case first == "healthz" || first == "livez" || first == "readyz":
		x.sendText(http.StatusOK, "ok")
		return nil
	case first == "api" || first == "apis":
		return x.serveDiscovery()
	case first == "openapi":
		return x.serveOpenAPI()
	case strings.HasPrefix(path, debugPrefix):
		return x.serveDebug()
	}
	x.notFoundText()
	return nil
}

// exchange is a request and what is known about it so far.
type exchange struct {
	server *Server
	w      *response
	r      *http.Request
	query  url.Values
	info   pathInfo
	user   User
	// form is the form of the answer or the error.
	form answerForm
}

func newExchange(s *Server, w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{server: s, w: newResponse(w, r), r: r, info: parsePath(r.Method, r.URL.Path)}
	x.query, _ = url.ParseQuery(r.URL.RawQuery) // invalid parts are ignored, as in kube-apiserver
	if x.info.Verb == "list" && flag(x.query, "watch") {
		x.info.Verb = "watch"
	}
	// Until the endpoint is known, errors use the simplest form that the client accepts.
	x.form, _ = negotiate(r, false)
	return x
}

// negotiate determines the form of the answer, which convert allows to be a table or metadata.
func (x *exchange) negotiate(convert bool) error {
	form, ok := negotiate(x.r, convert)
	x.form = form
	if !ok {
		return resources.NotAcceptable("only the following media types are accepted: " + mediaJSON)
	}
	return nil
}

// describe converts the request for the trace.
func (x *exchange) describe() RequestInfo {
	return RequestInfo{
		Method: x.r.Method, URI: x.r.URL.RequestURI(), Verb: x.info.Verb,
		User: x.user.Name, UserAgent: x.r.UserAgent(),
	}
}
