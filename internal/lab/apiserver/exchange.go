package apiserver

import (
	"net/http"
	"net/url"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/requestinfo"
)

// exchange is one request on its way through the server, with what has been found out about it so far.
type exchange struct {
	server *Server
	w      *response
	r      *http.Request
	query  url.Values
	info   requestinfo.Info
	user   User
	// form is how the answer, or the refusal, is to look.
	form negotiation.Form
}

func newExchange(s *Server, w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{server: s, w: newResponse(w, r), r: r, info: requestinfo.Parse(r.Method, r.URL.Path)}
	x.query, _ = url.ParseQuery(r.URL.RawQuery) // what cannot be read is left out, as in the original
	if x.info.Verb == "list" && flag(x.query, "watch") {
		x.info.Verb = "watch"
	}
	// Until it is known what the endpoint can do, a refusal looks like the plainest thing that the client reads.
	x.form, _ = negotiation.Negotiate(r, negotiation.Rules{})
	return x
}

// negotiate agrees on the form of the answer.
func (x *exchange) negotiate(rules negotiation.Rules) error {
	form, refusal := negotiation.Negotiate(x.r, rules)
	x.form = form
	if refusal != "" {
		return notAcceptable(refusal)
	}
	return nil
}

// fault is the request as the faults see it.
func (x *exchange) fault() faults.Request {
	return faults.Request{
		Verb: x.info.Verb, Group: x.info.Group, Version: x.info.Version,
		Resource: x.info.Resource, Subresource: x.info.Subresource,
		Namespace: x.info.Namespace, Name: x.info.Name,
		Path: x.info.Path, User: x.user.Name, Watch: x.info.Verb == "watch",
	}
}

// describe is the request as the trace sees it.
func (x *exchange) describe() RequestInfo {
	return RequestInfo{
		Method: x.r.Method, URI: x.r.URL.RequestURI(), Verb: x.info.Verb,
		User: x.user.Name, UserAgent: x.r.UserAgent(),
	}
}
