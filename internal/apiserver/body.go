package apiserver

import (
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"orrery/internal/apiserver/apierrors"
	"orrery/internal/apiserver/protobuf"
)

// readBody reads the whole body, as far as the limit goes. A client that takes its time is cut.
func (x *exchange) readBody() ([]byte, error) {
	x.w.controller.SetReadDeadline(time.Now().Add(bodyTimeout))
	defer x.w.controller.SetReadDeadline(time.Time{})
	if x.r.ContentLength > largestBody {
		return nil, apierrors.RequestEntityTooLarge(bodyTooLarge)
	}
	data, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, largestBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, apierrors.RequestEntityTooLarge(bodyTooLarge)
	}
	if err != nil {
		return nil, apierrors.BadRequest("the body of the request could not be read: " + err.Error())
	}
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
