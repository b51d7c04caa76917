package restclient

import (
	"net/http"
	"net/url"
)

// Request is one question to the server, as plain data. It can be sent any number of times.
type Request struct {
	// Verb is the HTTP method. Empty: GET.
	Verb string

	// Path is appended to the path of Config.Host, e.g. "/api/v1/namespaces/default". Segments that come from names must
	// be escaped already (Resource does that).
	Path string

	Query url.Values

	// Header holds further headers. Authorization and Impersonate-* are the business of Credentials.
	Header http.Header

	// Body is sent as it is, again at each attempt. Nil: none. ContentType empty: application/json.
	Body        []byte
	ContentType string

	// Accept empty: application/json.
	Accept string
}
