package apiserver

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"time"

	"orrery/internal/lab/apiserver/stream"
)

// response is a ResponseWriter that notes what is answered, and gives every write a deadline: a client that does not read is cut,
// whatever it asked for.
type response struct {
	http.ResponseWriter
	controller *http.ResponseController
	head       bool // the method is HEAD: net/http drops the body

	unread bool // the request has a body that nobody has asked for

	code  int   // 0: nothing has been answered yet
	bytes int64 // of the body
}

func newResponse(w http.ResponseWriter, r *http.Request) *response {
	out := &response{ResponseWriter: w, controller: http.NewResponseController(w), head: r.Method == http.MethodHead}
	if r.ProtoMajor == 1 {
		// The deadline of the request before is that of the connection still.
		out.controller.SetWriteDeadline(time.Time{})
	}
	return out
}

// Unwrap lets a ResponseController find what this response does not do itself.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	if w.unread {
		// net/http reads what is left of the body before it sends the head.
		w.controller.SetReadDeadline(time.Now().Add(lingerTimeout))
	}
	w.controller.SetWriteDeadline(time.Now().Add(stream.WriteTimeout))
	w.ResponseWriter.WriteHeader(code)
}

func (w *response) Write(data []byte) (int, error) {
	if w.code == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.controller.SetWriteDeadline(time.Now().Add(stream.WriteTimeout))
	n, err := w.ResponseWriter.Write(data)
	w.bytes += int64(n)
	return n, err
}

// Hijack takes the connection over for a websocket.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := w.controller.Hijack()
	if err == nil {
		w.code = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// begun tells whether an answer is under way, so that nothing can be said any more instead of it.
func (w *response) begun() bool { return w.code != 0 }

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
