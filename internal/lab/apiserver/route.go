package apiserver

import (
	"net/http"
	"net/url"
	"strings"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/requestinfo"
)

// route serves the path.
func (x *exchange) route() error {
	if x.info.IsResource {
		return x.serveResource()
	}
	path := x.r.URL.Path
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case path == "/" || path == "":
		return x.servePaths()
	case path == "/version" || path == "/version/":
		return x.readOnly(x.serveVersion)
	case first == "healthz" || first == "livez" || first == "readyz":
		return x.serveHealth()
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

// isExempt reports whether faults skip the request, so that a broken server can be inspected and
// repaired.
func (x *exchange) isExempt() bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(x.r.URL.Path, "/"), "/")
	return first == "healthz" || first == "livez" || first == "readyz" || strings.HasPrefix(x.r.URL.Path, debugPrefix)
}

// readOnly serves documents that only GET may request.
func (x *exchange) readOnly(serve func() error) error {
	if x.r.Method != http.MethodGet {
		return methodNotAllowed()
	}
	return serve()
}

// exchange is a request and what is known about it so far.
type exchange struct {
	server *Server
	w      *response
	r      *http.Request
	query  url.Values
	info   requestinfo.Info
	user   User
	// form is the form of the answer or the error.
	form negotiation.Form
}

func newExchange(s *Server, w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{server: s, w: newResponse(w, r), r: r, info: requestinfo.Parse(r.Method, r.URL.Path)}
	x.query, _ = url.ParseQuery(r.URL.RawQuery) // invalid parts are ignored, as in kube-apiserver
	if x.info.Verb == "list" && flag(x.query, "watch") {
		x.info.Verb = "watch"
	}
	// Until the endpoint is known, errors use the simplest form that the client accepts.
	x.form, _ = negotiation.Negotiate(r, negotiation.Rules{})
	return x
}

// negotiate determines the form of the answer.
func (x *exchange) negotiate(rules negotiation.Rules) error {
	form, refusal := negotiation.Negotiate(x.r, rules)
	x.form = form
	if refusal != "" {
		return notAcceptable(refusal)
	}
	return nil
}

// fault converts the request for package faults.
func (x *exchange) fault() faults.Request {
	return faults.Request{
		Verb: x.info.Verb, Group: x.info.Group, Version: x.info.Version,
		Resource: x.info.Resource, Subresource: x.info.Subresource,
		Namespace: x.info.Namespace, Name: x.info.Name,
		Path: x.info.Path, User: x.user.Name, Watch: x.info.Verb == "watch",
	}
}

// describe converts the request for the trace.
func (x *exchange) describe() RequestInfo {
	return RequestInfo{
		Method: x.r.Method, URI: x.r.URL.RequestURI(), Verb: x.info.Verb,
		User: x.user.Name, UserAgent: x.r.UserAgent(),
	}
}
