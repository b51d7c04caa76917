package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// statusDocument is api.Status with the metadata that the original always writes.
type statusDocument struct {
	Kind       string             `json:"kind"`
	APIVersion string             `json:"apiVersion"`
	Metadata   api.ListMeta       `json:"metadata"`
	Status     string             `json:"status,omitempty"`
	Message    string             `json:"message,omitempty"`
	Reason     api.StatusReason   `json:"reason,omitempty"`
	Details    *api.StatusDetails `json:"details,omitempty"`
	Code       int                `json:"code,omitempty"`
}

func encodeStatus(status api.Status) []byte {
	document, err := json.Marshal(statusDocument{
		Kind: statusOfKind, APIVersion: coreAPIVersion, Metadata: status.ListMeta, Status: status.Status,
		Message: status.Message, Reason: status.Reason, Details: status.Details, Code: status.Code,
	})
	if err != nil { // strings and numbers
		panic(err)
	}
	return document
}

// statusOf returns the refusal that an error is. One that is none is the server's own fault.
func statusOf(err error) *api.StatusError {
	if refused, ok := errors.AsType[*api.StatusError](err); ok {
		return refused
	}
	return statusOf(apierrors.InternalError(err))
}

// refuse answers with an error. A watch that has begun, or an answer, cannot be taken back: its connection breaks.
func (x *exchange) refuse(err error) {
	if x.w.begun() {
		panic(http.ErrAbortHandler)
	}
	refused := statusOf(err)
	if refused.Status.Details != nil && refused.Status.Details.RetryAfterSeconds > 0 {
		x.w.Header().Set("Retry-After", strconv.Itoa(refused.Status.Details.RetryAfterSeconds))
	}
	x.w.Header().Del("Etag")
	x.sendDocument(refused.Status.Code, encodeStatus(refused.Status))
}

// sendDocument answers with a JSON document, in the form that was agreed on.
func (x *exchange) sendDocument(code int, document []byte) {
	switch {
	case x.form.YAML:
		document = toYAML(document)
	case x.form.Pretty:
		document = indented(document, "")
	case len(document) > 0 && document[len(document)-1] != '\n':
		document = append(document, '\n')
	}
	x.send(code, x.form.MediaType(), document)
}

// sendJSON answers with a value, as a document.
func (x *exchange) sendJSON(code int, value any) error {
	document, err := json.Marshal(value)
	if err != nil {
		return err
	}
	x.sendDocument(code, document)
	return nil
}

// sendText answers with plain text.
func (x *exchange) sendText(code int, text string) {
	x.w.Header().Set("X-Content-Type-Options", "nosniff")
	x.send(code, "text/plain; charset=utf-8", []byte(text))
}

// notFoundText is the answer to a path that is not the API's.
func (x *exchange) notFoundText() { x.sendText(http.StatusNotFound, "404 page not found\n") }

func (x *exchange) send(code int, mediaType string, body []byte) {
	header := x.w.Header()
	header.Set("Content-Type", mediaType)
	if x.compresses(code, len(body)) && shrinks(body) {
		out := x.startCompressed(code)
		out.Write(body)
		out.Close()
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(code)
	x.w.Write(body)
}

// The messages of kube-apiserver for requests that are refused before it is known what they are about.
const (
	methodMessage  = "the server does not allow this method on the requested resource"
	bodyTypes      = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	bodyTooLarge   = "limit is 3145728"
	statusOfKind   = "Status"
	coreAPIVersion = "v1"
)

// withDetails adds the empty details that the original sends with some refusals.
func withDetails(refused *api.StatusError) *api.StatusError {
	if refused.Status.Details == nil {
		refused.Status.Details = &api.StatusDetails{}
	}
	return refused
}

func methodNotAllowed() error { return apierrors.MethodNotAllowed(methodMessage) }

// notAcceptable refuses a form. What the router of the original refuses has details, what its serializers refuse has none.
func notAcceptable(message string) error {
	refused := apierrors.NotAcceptable(message)
	if len(message) > 3 && message[:4] == "406:" {
		return withDetails(refused)
	}
	return refused
}

// indented is a document for people to read. prefix stands in front of all its lines but the first.
func indented(document []byte, prefix string) []byte {
	if bloats(document) {
		return document
	}
	var out bytes.Buffer
	json.Indent(&out, document, prefix, "  ")
	return out.Bytes()
}

// mostSpace is how many bytes of indentation a document may get. One that is nested a few thousand times would get gigabytes.
const mostSpace = 16 << 20

// bloats tells whether a document is nested so deeply that nobody can want it indented.
func bloats(document []byte) bool {
	space, depth := 0, 0
	for i := 0; i < len(document); i++ {
		switch document[i] {
		case '"':
			for i++; i < len(document) && document[i] != '"'; i++ {
				if document[i] == '\\' {
					i++
				}
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
		default:
			continue
		}
		if space += 2 * depth; space > mostSpace {
			return true
		}
	}
	return false
}
