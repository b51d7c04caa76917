package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/resources"
)

// serveOpenAPI serves /openapi/v3, the documents of the group versions, and an empty /openapi/v2.
// Clients may keep a document until the hash in the index changes.
func (x *exchange) serveOpenAPI() error {
	path := strings.TrimPrefix(x.r.URL.Path, "/openapi/")
	switch {
	case path == "v2" && wantsProtobuf(x.r.Header):
		x.send(http.StatusOK, openAPIV2Protobuf[1], nil) // an empty message
		return nil
	case path == "v2":
		return resources.NotAcceptable("this server describes its types in /openapi/v3 only")
	}
	found, ok := x.server.documents.describe(path, x.server.catalog.Groups())
	switch {
	case ok && path == "v3":
		x.send(http.StatusOK, "text/plain; charset=utf-8", found.data)
	case ok:
		x.w.Header().Add("Vary", "Accept")
		if !x.unchanged(found.etag) {
			x.send(http.StatusOK, mediaJSON, found.data)
		}
	case strings.HasPrefix(path, "v3/"):
		x.w.WriteHeader(http.StatusNotFound)
	default:
		x.notFoundText()
	}
	return nil
}

// openAPIV2Protobuf are the media types of the OpenAPI v2 document. kubectl apply requests them and
// fails without an answer, but looks in the v3 documents first, which have every kind.
var openAPIV2Protobuf = []string{"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
	"application/com.github.proto-openapi.spec.v2.v1.0+protobuf"}

// wantsProtobuf reports whether a client prefers protobuf.
func wantsProtobuf(header http.Header) bool {
	first, _, _ := strings.Cut(header.Get("Accept"), ",")
	mediaType, _, _ := strings.Cut(first, ";")
	return slices.Contains(openAPIV2Protobuf, strings.ToLower(strings.TrimSpace(mediaType)))
}
