package apiserver

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// response records the status and length of an answer and sets a deadline for every write, so that
// a client that does not read is cut.
type response struct {
	http.ResponseWriter
	controller *http.ResponseController

	code  int   // 0 before the answer
	bytes int64 // of the body
}

func newResponse(w http.ResponseWriter, r *http.Request) *response {
	out := &response{ResponseWriter: w, controller: http.NewResponseController(w)}
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
