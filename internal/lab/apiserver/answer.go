package apiserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// encodeStatus encodes a status with its metadata, which kube-apiserver never omits.
func encodeStatus(status api.Status) []byte {
	status.TypeMeta = typeMeta("Status")
	return encodeDocument(struct {
		api.Status
		Metadata api.ListMeta `json:"metadata"`
	}{status, status.ListMeta})
}

// statusOf returns the StatusError in err, or an internal error.
func statusOf(err error) *api.StatusError {
	if refused, ok := errors.AsType[*api.StatusError](err); ok {
		return refused
	}
	return statusOf(resources.InternalError(err))
}

// refuse answers with an error. If an answer has begun it breaks the connection.
func (x *exchange) refuse(err error) {
	if x.w.begun() {
		panic(http.ErrAbortHandler)
	}
	refused := statusOf(err)
	if refused.Status.Details != nil && refused.Status.Details.RetryAfterSeconds > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(refused.Status.Details.RetryAfterSeconds))
	}
	x.sendDocument(refused.Status.Code, encodeStatus(refused.Status))
}

// sendDocument sends a JSON document in the negotiated form.
func (x *exchange) sendDocument(code int, document []byte) {
	switch {
	case x.form.Pretty:
		document = indented(document)
	case len(document) > 0 && document[len(document)-1] != '\n':
		document = append(document, '\n')
	}
	x.send(code, mediaJSON, document)
}

// sendJSON encodes and sends a document.
func (x *exchange) sendJSON(code int, value any) error {
	document, err := json.Marshal(value)
	if err != nil {
		return err
	}
	x.sendDocument(code, document)
	return nil
}

// sendText sends plain text.
func (x *exchange) sendText(code int, text string) {
	x.w.Header().Set("X-Content-Type-Options", "nosniff")
	x.send(code, "text/plain; charset=utf-8", []byte(text))
}

// notFoundText answers a path outside of the API.
func (x *exchange) notFoundText() { x.sendText(http.StatusNotFound, "404 page not found\n") }

func (x *exchange) send(code int, mediaType string, body []byte) {
	header := x.w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(code)
	x.w.Write(body)
}

func indented(document []byte) []byte {
	var out bytes.Buffer
	json.Indent(&out, document, "", "  ")
	return out.Bytes()
}

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
