package apiserver

import (
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/protobuf"
)

// limitBody gives the client a time to send its body. The limit stands until the body has been read: net/http reads what a handler
// leaves, and a client that says nothing more would keep it there.
func (x *exchange) limitBody() {
	if x.r.ContentLength != 0 {
		x.w.unread = true
		deadline := time.Now().Add(bodyTimeout)
		if limit, limited := x.r.Context().Deadline(); limited && limit.Before(deadline) {
			deadline = limit
		}
		x.w.controller.SetReadDeadline(deadline)
	}
}

// readBody reads the whole body, as far as the limits go.
func (x *exchange) readBody() ([]byte, error) {
	if x.r.ContentLength > largestBody {
		return nil, apierrors.RequestEntityTooLarge(bodyTooLarge)
	}
	x.w.unread = false
	data, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, largestBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierrors.RequestEntityTooLarge(bodyTooLarge)
	}
	if err != nil {
		return nil, apierrors.BadRequest("the body of the request could not be read: " + err.Error())
	}
	x.w.controller.SetReadDeadline(time.Time{})
	return data, nil
}

// encoding is the form of a body.
type encoding int

const (
	inJSON encoding = iota
	inYAML
	inProtobuf
)

// encodingOf reads the content type of a body. None at all is JSON.
func encodingOf(header http.Header) (encoding, error) {
	text := header.Get("Content-Type")
	if text == "" {
		return inJSON, nil
	}
	mediaType, _, err := mime.ParseMediaType(text)
	switch {
	case err == nil && mediaType == "application/json":
		return inJSON, nil
	case err == nil && mediaType == "application/yaml":
		return inYAML, nil
	case err == nil && mediaType == protobuf.MediaType:
		return inProtobuf, nil
	}
	return 0, apierrors.UnsupportedMediaType(bodyTypes)
}

// longestSummary is how much of a body a refusal quotes.
const longestSummary = 30

// summary is a body as a refusal quotes it.
func summary(data []byte) string {
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{' && len(data) > longestSummary:
		return string(data[:longestSummary]) + " ..."
	case data[0] == '{':
		return string(data)
	case len(data) > longestSummary:
		return hex.EncodeToString(data[:longestSummary]) + " ..."
	}
	return hex.EncodeToString(data)
}
