package apiserver

import (
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/negotiation"
	"orrery/internal/lab/apiserver/protobuf"
)

// limitBody sets a deadline for the body. It stays until the body has been read, because net/http
// reads what a handler leaves, and a silent client would block that.
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

// readBody reads the whole body, within the limits.
func (x *exchange) readBody() ([]byte, error) {
	if x.r.ContentLength > maxBody {
		return nil, apierrors.RequestEntityTooLarge(bodyTooLarge)
	}
	x.w.unread = false
	data, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierrors.RequestEntityTooLarge(bodyTooLarge)
	}
	if err != nil {
		return nil, apierrors.BadRequest("the body of the request could not be read: " + err.Error())
	}
	x.w.controller.SetReadDeadline(time.Time{})
	return data, nil
}

// encoding is the encoding of a body.
type encoding int

const (
	inJSON encoding = iota
	inProtobuf
)

// encodingOf parses the content type of a body; the default is JSON.
func encodingOf(header http.Header) (encoding, error) {
	text := header.Get("Content-Type")
	if text == "" {
		return inJSON, nil
	}
	mediaType, _, err := mime.ParseMediaType(text)
	switch {
	case err == nil && mediaType == negotiation.JSON:
		return inJSON, nil
	case err == nil && mediaType == protobuf.MediaType:
		return inProtobuf, nil
	}
	return 0, apierrors.UnsupportedMediaType(bodyTypes)
}

// maxSummary is how much of a body an error message quotes.
const maxSummary = 30

// summary returns a body as an error message quotes it.
func summary(data []byte) string {
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{' && len(data) > maxSummary:
		return string(data[:maxSummary]) + " ..."
	case data[0] == '{':
		return string(data)
	case len(data) > maxSummary:
		return hex.EncodeToString(data[:maxSummary]) + " ..."
	}
	return hex.EncodeToString(data)
}
