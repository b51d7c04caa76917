package apiserver

import (
	"bufio"
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
