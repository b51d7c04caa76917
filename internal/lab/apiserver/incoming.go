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

// incoming is a document from a client, converted to JSON.
type incoming struct {
	kind, apiVersion string // "" if absent
	data             []byte
}

// read decodes a body. The errors have kube-apiserver's messages.
func (e encoding) read(body []byte) (incoming, error) {
	doc := incoming{data: body}
	if e == inProtobuf {
		object, err := resources.DecodeProtobuf(body)
		if _, unknown := errors.AsType[*resources.KindError](err); err != nil && !unknown {
			return incoming{}, err
		}
		// An unknown kind has no tree; its name is enough for the error.
		if doc.data, err = json.Marshal(object.Tree); err != nil {
			return incoming{}, err
		}
		doc.kind, doc.apiVersion = object.Kind, object.APIVersion
		return doc, nil
	}
	if err := doc.readKind(); err != nil {
		return incoming{}, err
	}
	return doc, nil
}

// readKind reads kind and apiVersion. The anonymous struct is part of the error message.
func (doc *incoming) readKind() error {
	var head struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(doc.data, &head); err != nil {
		return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	if _, err := api.ParseGroupVersion(head.APIVersion); err != nil {
		return err
	}
	doc.kind, doc.apiVersion = head.Kind, head.APIVersion
	return nil
}

// missingKind returns an error if kind or apiVersion is absent. Only custom resources require them.
func (doc *incoming) missingKind() error {
	missing := "Kind"
	if doc.kind != "" {
		missing = "apiVersion"
	}
	if doc.kind != "" && doc.apiVersion != "" {
		return nil
	}
	//lint:ignore ST1005 the words of kube-apiserver
	return fmt.Errorf("Object '%s' is missing in '%s'", missing, doc.data)
}

// tree decodes the document; null gives an empty tree.
func (doc *incoming) tree() (*api.Unstructured, error) {
	object := &api.Unstructured{}
	if err := json.Unmarshal(doc.data, object); err != nil {
		return nil, err
	}
	if object.Object == nil {
		object.Object = map[string]any{}
	}
	return object, nil
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
	case err == nil && mediaType == mediaJSON:
		return inJSON, nil
	case err == nil && mediaType == resources.ProtobufType:
		return inProtobuf, nil
	}
	return 0, resources.UnsupportedMediaType("the body of the request was in an unknown format - " +
		"accepted media types include: application/json, application/vnd.kubernetes.protobuf")
}
