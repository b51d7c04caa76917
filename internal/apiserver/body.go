package apiserver

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// toJSON turns a body into JSON, with kind and apiVersion where it says them.
func (e encoding) toJSON(data []byte) ([]byte, error) {
	switch e {
	case inYAML:
		converted, err := fromYAML(data)
		if err != nil {
			return nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
		}
		return converted, nil
	case inProtobuf:
		object, err := protobuf.Decode(data)
		if _, unknown := errors.AsType[*protobuf.KindError](err); err != nil && !unknown {
			return nil, err
		}
		// A kind that is not known has no tree; what it says it is does for the refusal.
		if object.Tree == nil {
			object.Tree = map[string]any{}
		}
		object.Tree["kind"], object.Tree["apiVersion"] = object.Kind, object.APIVersion
		return json.Marshal(object.Tree)
	}
	return data, nil
}

// kindOf reads what a document says it is, in the words of the original if it cannot be read. The anonymous struct is part of them.
func kindOf(data []byte) (kind, apiVersion string, err error) {
	var head struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return "", "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return head.Kind, head.APIVersion, nil
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
