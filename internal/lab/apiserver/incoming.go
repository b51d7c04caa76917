package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// readDocument reads the document in the body, which should be of the given kind.
func (x *exchange) readDocument(kind string) (*api.Unstructured, error) {
	inProtobuf, err := isProtobuf(x.r.Header)
	if err != nil {
		return nil, err
	}
	body, err := x.readBody()
	if err != nil {
		return nil, err
	}
	return parseDocument(body, inProtobuf, kind)
}

// parseDocument parses a body, which should be of the given kind. null gives an empty document.
func parseDocument(body []byte, inProtobuf bool, kind string) (document *api.Unstructured, err error) {
	document = &api.Unstructured{}
	if inProtobuf {
		document, err = resources.DecodeProtobuf(body)
	} else {
		err = json.Unmarshal(body, document)
	}
	if err != nil {
		return nil, resources.BadRequest(
			fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v", kind, err))
	}
	if document.Object == nil {
		document.Object = map[string]any{}
	}
	return document, nil
}

// readBody reads the whole body, within the limits.
func (x *exchange) readBody() ([]byte, error) {
	if x.r.ContentLength > maxBody {
		return nil, resources.RequestEntityTooLarge(maxBody)
	}
	data, err := io.ReadAll(http.MaxBytesReader(x.w.ResponseWriter, x.r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, resources.RequestEntityTooLarge(maxBody)
	}
	if err != nil {
		return nil, resources.BadRequest("the body of the request could not be read: " + err.Error())
	}
	return data, nil
}

// isProtobuf parses the content type of a body, which is JSON by default.
func isProtobuf(header http.Header) (bool, error) {
	text := header.Get("Content-Type")
	if text == "" {
		return false, nil
	}
	mediaType, _, err := mime.ParseMediaType(text)
	if err != nil || mediaType != mediaJSON && mediaType != resources.ProtobufType {
		return false, resources.UnsupportedMediaType("the body of the request was in an unknown format - " +
			"accepted media types include: application/json, application/vnd.kubernetes.protobuf")
	}
	return mediaType == resources.ProtobufType, nil
}
