package apiserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// readObject reads the object in the body of a create or update, validates its fields as the client
// asks, and returns it with kind and apiVersion.
func (x *exchange) readObject(want api.GroupVersionKind, t *resources.Type, custom bool,
	validation fieldValidation) (*api.Unstructured, error) {
	object, err := x.readDocument(want.Kind)
	if err != nil {
		return nil, err
	}
	expected := gvOf(want).String()
	kind, apiVersion := object.GetKind(), object.GetAPIVersion()
	if custom && (kind == "" || apiVersion == "") { // those of built-in types may lack them
		return nil, resources.BadRequest("a custom resource needs kind and apiVersion")
	}
	kind, apiVersion = cmp.Or(kind, want.Kind), cmp.Or(apiVersion, expected)
	cannot := func(problem string) error {
		gv, _ := api.ParseGroupVersion(apiVersion)
		return resources.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s",
			kind, gv.Version, want.Kind, problem))
	}
	if kind != want.Kind || apiVersion != expected {
		return nil, cannot(otherKind(apiVersion, kind, want))
	}
	if err := x.checkFields(object.Object, t, validation, cannot); err != nil {
		return nil, err
	}
	object.Object["kind"], object.Object["apiVersion"] = want.Kind, expected
	return object, nil
}

func gvOf(gvk api.GroupVersionKind) api.GroupVersion {
	return api.GroupVersion{Group: gvk.Group, Version: gvk.Version}
}

// otherKind explains why a document is refused whose kind is not that of the path.
func otherKind(apiVersion, kind string, want api.GroupVersionKind) string {
	return fmt.Sprintf("the document is of %s %s, and the request of %s %s", apiVersion, kind, gvOf(want), want.Kind)
}

// checkFields compares a document with its type and prunes unknown fields. A value of the wrong
// type is always refused; unknown fields are handled as the client asks. cannot returns the error.
func (x *exchange) checkFields(tree map[string]any, t *resources.Type, validation fieldValidation,
	cannot func(problem string) error,
) error {
	found := t.Check(tree)
	switch {
	case found.TypeError != nil:
		return cannot(found.TypeError.Error())
	case len(found.Unknown) > 0 && validation == strictFields:
		return cannot("strict decoding error: " + strings.Join(found.Unknown, ", "))
	case validation == warnOfFields:
		x.warn(found.Unknown)
	}
	t.Prune(tree)
	return nil
}

// warn adds warning headers, each text once.
func (x *exchange) warn(sentences []string) {
	for _, sentence := range sentences {
		if warning := "299 - " + strconv.Quote(sentence); !slices.Contains(x.w.Header()["Warning"], warning) {
			x.w.Header().Add("Warning", warning)
		}
	}
}

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

// mediaJSON is the media type of every answer.
const mediaJSON = "application/json"

// negotiate returns the form of the answer to a request: the whole object, its metadata or a table,
// always in JSON. convert allows tables and metadata. The order in the Accept header decides among
// the forms that the server supports, so a client that prefers protobuf and accepts JSON gets JSON.
// If there is none, ok is false and form is that of the error.
func negotiate(r *http.Request, convert bool) (form answerForm, ok bool) {
	form = answerForm{Pretty: isPretty(r)}
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return form, true
	}
	for _, c := range parseAccept(header) {
		if c.mediaType != "*/*" && c.mediaType != mediaJSON {
			continue
		}
		if asked, ok := c.form(convert); ok {
			asked.Pretty = asked.Pretty || form.Pretty
			return asked, true
		}
	}
	return form, false
}

// form returns the form that the clause requests, if the endpoint supports it.
func (c clause) form(convert bool) (answerForm, bool) {
	form := answerForm{As: conversion(c.params["as"])}
	form.Pretty = c.params["pretty"] == "1" || c.params["pretty"] == "true"
	switch form.As {
	case "":
		return form, true
	case asTable, asMetadata, asMetadataList:
		return form, convert && c.params["v"] == "v1" && c.params["g"] == "meta.k8s.io"
	}
	return answerForm{}, false
}

// isPretty reports whether the answer should be indented: if the query says so, or for curl, wget
// and browsers.
func isPretty(r *http.Request) bool {
	if query := r.URL.Query(); query.Has("pretty") {
		return flag(query, "pretty")
	}
	userAgent := r.UserAgent()
	return strings.HasPrefix(userAgent, "curl") || strings.HasPrefix(userAgent, "Wget") ||
		strings.HasPrefix(userAgent, "Mozilla/5.0")
}

// answerForm is the form of an answer.
type answerForm struct {
	// As is the kind to convert to; "" means the object itself.
	As conversion
	// Pretty indents the document.
	Pretty bool
}

// conversion is a kind that objects can be converted to.
type conversion string

const (
	asTable        conversion = "Table"
	asMetadata     conversion = "PartialObjectMetadata"
	asMetadataList conversion = "PartialObjectMetadataList"
)

// clause is a media type in an Accept header.
type clause struct {
	mediaType string
	params    map[string]string
}

// parseAccept parses an Accept header. It skips invalid clauses and ignores weights.
func parseAccept(header string) []clause {
	var clauses []clause
	for text := range strings.SplitSeq(header, ",") {
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		clauses = append(clauses, clause{mediaType: mediaType, params: params})
	}
	return clauses
}
