package apiserver

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"time"
)

// response records the status and length of an answer and sets a deadline for every write, so that
// a client that does not read is cut.
type response struct {
	http.ResponseWriter
	controller *http.ResponseController
	head       bool // the method is HEAD, so net/http drops the body

	unread bool // the body of the request has not been read

	code  int   // 0 before the answer
	bytes int64 // of the body
}

func newResponse(w http.ResponseWriter, r *http.Request) *response {
	out := &response{ResponseWriter: w, controller: http.NewResponseController(w), head: r.Method == http.MethodHead}
	if r.ProtoMajor == 1 {
		// The connection still has the deadline of the previous request.
		out.controller.SetWriteDeadline(time.Time{})
	}
	return out
}

// Unwrap gives ResponseController access to the wrapped ResponseWriter.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	if w.unread {
		// net/http reads the rest of the body before it sends the header.
		w.controller.SetReadDeadline(time.Now().Add(lingerTimeout))
	}
	w.controller.SetWriteDeadline(time.Now().Add(writeTimeout))
	w.ResponseWriter.WriteHeader(code)
}

func (w *response) Write(data []byte) (int, error) {
	if w.code == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.controller.SetWriteDeadline(time.Now().Add(writeTimeout))
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Hijack takes over the connection for a websocket.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := w.controller.Hijack()
	if err == nil {
		w.code = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// begun reports whether an answer has begun.
func (w *response) begun() bool { return w.code != 0 }

// limitTime applies the deadline of ?timeout=. Watches, which have timeoutSeconds, and logs have
// none. The caller must call release.
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
	// The body's deadline on the connection is the same instant, and may be noticed first.
	limit, limited := x.r.Context().Deadline()
	return limited && !time.Now().Before(limit)
}

// timedOut answers like the outermost filter of kube-apiserver, which ignores the negotiated form.
func (x *exchange) timedOut() {
	x.w.Header().Del("Warning")
	x.send(http.StatusGatewayTimeout, "text/plain; charset=utf-8", []byte(`{"metadata":{},"status":"Failure","message":"Timeout: `+
		`request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}`+"\n"))
}
