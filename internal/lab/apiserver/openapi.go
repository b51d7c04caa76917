package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"orrery/internal/lab/apiserver/meta"
	"orrery/restclient/api"
)

// serveOpenAPI serves /openapi/v3, the documents of the group versions, and an empty /openapi/v2.
func (x *exchange) serveOpenAPI() error {
	path := strings.TrimPrefix(x.r.URL.Path, "/openapi/")
	troubled := x.server.troubled()
	switch {
	case path == "v2":
		if !wantsProtobuf(x.r.Header) {
			return notAcceptable("this server describes its types in /openapi/v3 only")
		}
		x.send(http.StatusOK, openAPIV2Protobuf[1], emptyOpenAPIV2())
		return nil
	case path == "v3":
		found, _ := x.server.documents.describe(path, api.GroupVersion{}, troubled)
		x.w.Header().Set("Last-Modified", found.made.UTC().Format(http.TimeFormat))
		x.send(http.StatusOK, "text/plain; charset=utf-8", found.data)
		return nil
	case strings.HasPrefix(path, "v3/"):
		return x.serveOpenAPIV3(path, troubled)
	}
	x.notFoundText()
	return nil
}

// serveOpenAPIV3 serves the document of a group version. Clients may keep it until the hash in the
// index changes.
func (x *exchange) serveOpenAPIV3(path string, troubled troubledVersions) error {
	gv, ok := openAPIGroupVersion(strings.TrimPrefix(path, "v3/"))
	var found document
	if ok {
		found, ok = x.server.documents.describe(path, gv, troubled)
	}
	if !ok {
		x.w.Header().Set("Content-Length", "0")
		x.w.WriteHeader(http.StatusNotFound)
		return nil
	}
	x.w.Header().Add("Vary", "Accept")
	x.w.Header().Set("Last-Modified", found.made.UTC().Format(http.TimeFormat))
	if !x.unchanged(found.etag) {
		x.send(http.StatusOK, "application/json", found.data)
	}
	return nil
}

// openAPIGroupVersion parses "api/v1" and "apis/apps/v1".
func openAPIGroupVersion(path string) (api.GroupVersion, bool) {
	switch parts := strings.Split(path, "/"); {
	case len(parts) == 2 && parts[0] == "api":
		return api.GroupVersion{Version: parts[1]}, true
	case len(parts) == 3 && parts[0] == "apis":
		return api.GroupVersion{Group: parts[1], Version: parts[2]}, true
	}
	return api.GroupVersion{}, false
}

func errNoSuchResource() error { return meta.ResourceNotFound() }

// openAPIV2Protobuf are the media types of the OpenAPI v2 document. kubectl apply requests them and
// fails without an answer.
var openAPIV2Protobuf = []string{"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"}

// The field numbers of openapi_v2.Document and its Info.
const (
	documentSwagger protowire.Number = 1
	documentInfo    protowire.Number = 2
	documentPaths   protowire.Number = 8
	infoTitle       protowire.Number = 1
	infoVersion     protowire.Number = 2
)

// wantsProtobuf reports whether a client prefers protobuf.
func wantsProtobuf(header http.Header) bool {
	first, _, _ := strings.Cut(header.Get("Accept"), ",")
	mediaType, _, _ := strings.Cut(first, ";")
	return slices.Contains(openAPIV2Protobuf, strings.ToLower(strings.TrimSpace(mediaType)))
}

// emptyOpenAPIV2 returns an OpenAPI v2 document without paths in protobuf. Clients look in the v3
// documents first, which have every kind of this server.
func emptyOpenAPIV2() []byte {
	info := appendText(appendText(nil, infoTitle, "Kubernetes"), infoVersion, emulated)
	document := appendText(nil, documentSwagger, "2.0")
	document = protowire.AppendBytes(protowire.AppendTag(document, documentInfo, protowire.BytesType), info)
	return protowire.AppendBytes(protowire.AppendTag(document, documentPaths, protowire.BytesType), nil)
}

func appendText(message []byte, field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(message, field, protowire.BytesType), text)
}
