package apiserver

import (
	"context"
	"net/http"
	"time"
)

// limitTime gives the request the deadline that the client asks for with ?timeout=. Watches and logs have none: a watch is bounded by
// timeoutSeconds. The caller must call release.
func (x *exchange) limitTime() (release func(), err error) {
	if x.info.Verb == "watch" || x.info.Subresource == "log" {
		return func() {}, nil
	}
	limit, err := timeout(x.query)
	if err != nil || limit == 0 {
		return func() {}, err
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), limit)
	x.r = x.r.WithContext(ctx)
	return cancel, nil
}

// late reports whether the deadline of the request has passed.
func (x *exchange) late() bool {
	// The deadline of the connection for the body is the same instant, and may be noticed before that of the context.
	limit, limited := x.r.Context().Deadline()
	return limited && !time.Now().Before(limit)
}

// timedOut answers as the outermost filter of kube-apiserver does, which knows nothing of the form that was agreed on.
func (x *exchange) timedOut() {
	x.w.Header().Del("Warning")
	x.send(http.StatusGatewayTimeout, "text/plain; charset=utf-8", []byte(`{"metadata":{},"status":"Failure","message":"Timeout: `+
		`request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}`+"\n"))
}
