package apiserver

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// discovered returns the discovery documents of the moment, with the versions that faults disturb.
func (x *exchange) discovered() *discovery {
	s := x.server
	return newDiscovery(s.catalog.GroupsWith(s.faults.Unavailable(), s.faults.Outdated()), x.r.Host)
}

// serveDiscovery serves the discovery documents below /api and /apis.
func (x *exchange) serveDiscovery() error {
	documents := x.discovered()
	path := strings.TrimSuffix(strings.TrimPrefix(x.r.URL.Path, "/"), "/")
	parts := strings.Split(path, "/")
	known, ok := documents.byPath[path]
	switch {
	case ok && x.r.Method != http.MethodGet:
		return resources.MethodNotAllowed()
	case ok && len(parts) == 1 && wantsAggregated(x.r.Header):
		data := documents.aggregated[path]
		if x.form.Pretty {
			data = indented(data)
		}
		x.send(http.StatusOK, aggregatedType, data)
		return nil
	case ok:
		x.sendDocument(http.StatusOK, known)
		return nil
	case documents.stale[path]:
		x.serviceUnavailable()
		return nil
	case parts[0] == "apis" && len(parts) > 1:
		return x.notServed(parts[1])
	}
	return resources.ResourceNotFound()
}

// serviceUnavailable answers for a version whose server does not.
func (x *exchange) serviceUnavailable() {
	x.sendText(http.StatusServiceUnavailable, "service unavailable\n")
}

// documents caches the OpenAPI documents until the catalog changes.
type documents struct {
	// mu guards the fields below; openAPI was derived from groups.
	mu      sync.Mutex
	groups  []resources.Group
	openAPI map[string][]byte // by path below /openapi/
}

// describe returns an OpenAPI document: "v3", or "v3/" and the path of a version; nil if there is
// none. The catalog replaces its slice of groups at every change, so comparing the address
// suffices.
func (d *documents) describe(path string, groups []resources.Group) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.groups) != len(groups) || &d.groups[0] != &groups[0] {
		d.groups, d.openAPI = groups, map[string][]byte{}
	}
	if known, ok := d.openAPI[path]; ok {
		return known
	}
	var data []byte
	if path == "v3" {
		data = resources.OpenAPIV3Index(groups)
	} else if version, ok := strings.CutPrefix(path, "v3/"); ok {
		data, _ = resources.OpenAPIV3(groups, versionAt(version))
	}
	if data != nil {
		d.openAPI[path] = data
	}
	return data
}

// versionAt parses the output of resources.PathOf; it returns the zero value for other paths.
func versionAt(path string) api.GroupVersion {
	switch parts := strings.Split(path, "/"); {
	case len(parts) == 2 && parts[0] == "api":
		return api.GroupVersion{Version: parts[1]}
	case len(parts) == 3 && parts[0] == "apis":
		return api.GroupVersion{Group: parts[1], Version: parts[2]}
	}
	return api.GroupVersion{}
}

// serveOpenAPI serves /openapi/v3, the documents of the group versions, and an empty /openapi/v2.
// Clients keep a document until the hash in the index changes.
func (x *exchange) serveOpenAPI() error {
	path := strings.TrimPrefix(x.r.URL.Path, "/openapi/")
	switch {
	case x.r.Method != http.MethodGet:
		return resources.MethodNotAllowed()
	case path == "v2" && wantsProtobuf(x.r.Header):
		x.send(http.StatusOK, openAPIV2Protobuf[1], nil) // an empty message
		return nil
	case path == "v2":
		return resources.NotAcceptable("this server describes its types in /openapi/v3 only")
	}
	found := x.server.documents.describe(path, x.server.catalog.Groups())
	switch {
	case path == "v3":
		x.send(http.StatusOK, "text/plain; charset=utf-8", found)
	case found != nil:
		x.send(http.StatusOK, mediaJSON, found)
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
