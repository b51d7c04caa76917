package restclient

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Request is one API request as plain data. It can be sent any number of times.
type Request struct {
	Verb string // the HTTP method; empty: GET
	// Path is appended to the path of Config.Host, e.g. "/api/v1/namespaces/default". Segments that
	// come from names must be escaped already (Resource does that).
	Path  string
	Query url.Values

	Header      http.Header // additional ones; Credentials set Authorization and Impersonate-*
	Body        []byte      // sent with each attempt; nil: no body
	ContentType string      // of Body; empty: application/json
	Accept      string      // empty: application/json
	// MaxBytes bounds the body of the answer; 0 means Config.MaxBodyBytes.
	MaxBytes int

	// about is set by Resource, for traces and for errors without a text from the server.
	about RequestInfo
	// origin and id are set when the request is made, if there is a trace.
	origin string
	id     uint64
}

const jsonMediaType = "application/json"

func (r *Request) method() string {
	if r.Verb == "" {
		return http.MethodGet
	}
	return strings.ToUpper(r.Verb)
}

func (r *Request) info(attempt int) RequestInfo {
	info := r.about
	info.ID, info.Method, info.Path, info.Attempt, info.Origin = r.id, r.method(), r.Path, attempt, r.origin
	return info
}

// url resolves the request against the server's base URL.
func (r *Request) url(base *url.URL) (*url.URL, error) {
	path := r.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	plain, err := url.PathUnescape(path)
	if err != nil {
		return nil, fmt.Errorf("the path %q cannot be used: %w", r.Path, err)
	}
	u := *base
	u.RawPath = base.EscapedPath() + path
	u.Path = base.Path + plain
	u.RawQuery = r.Query.Encode()
	return &u, nil
}

// build returns the HTTP request of one attempt. Each attempt has a new reader of the body.
func (r *Request) build(ctx context.Context, u *url.URL, userAgent string) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	hr, err := http.NewRequestWithContext(ctx, r.method(), "", body)
	if err != nil {
		return nil, fmt.Errorf("the method %q cannot be used", r.Verb)
	}
	hr.URL, hr.Host = u, u.Host
	for key, values := range r.Header {
		hr.Header[http.CanonicalHeaderKey(key)] = slices.Clone(values)
	}
	hr.Header.Set("User-Agent", userAgent)
	hr.Header.Set("Accept", cmp.Or(r.Accept, jsonMediaType))
	if r.Body != nil {
		hr.Header.Set("Content-Type", cmp.Or(r.ContentType, jsonMediaType))
	}
	return hr, nil
}

// safe reports whether the request changes nothing on the server, so that it can be repeated.
func (r *Request) safe() bool {
	return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.method())
}
