package apiserver

import (
	"crypto/sha512"
	"fmt"
	"net/http"
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
		x.serveAggregated(documents.aggregated[path])
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

// serveAggregated serves /api or /apis in the form that newer clients prefer.
func (x *exchange) serveAggregated(aggregated document) {
	x.w.Header().Set("Cache-Control", "public")
	x.w.Header().Add("Vary", "Accept")
	if x.unchanged(aggregated.etag) {
		return
	}
	data := aggregated.data
	if x.form.Pretty {
		data = indented(data)
	}
	x.send(http.StatusOK, aggregatedType, data)
}

// unchanged sets the ETag, and answers 304 if the client has that version.
func (x *exchange) unchanged(etag string) bool {
	quoted := `"` + etag + `"`
	x.w.Header().Set("Etag", quoted)
	for known := range strings.SplitSeq(x.r.Header.Get("If-None-Match"), ",") {
		known = strings.TrimSpace(known)
		if known == "*" || strings.TrimPrefix(known, "W/") == quoted {
			x.w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// documents caches the OpenAPI documents until the catalog changes.
type documents struct {
	// mu guards the fields below; openAPI was derived from groups.
	mu      sync.Mutex
	groups  []resources.Group
	openAPI map[string]document // by path below /openapi/
}

// document is an encoded document.
type document struct {
	data []byte
	etag string // without quotes
}

func newDocument(data []byte) document {
	return document{data: data, etag: fmt.Sprintf("%X", sha512.Sum512(data))}
}

// describe returns an OpenAPI document: "v3", or "v3/" and the path of a version. The catalog
// replaces its slice of groups at every change, so comparing the address suffices.
func (d *documents) describe(path string, groups []resources.Group) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.groups) != len(groups) || &d.groups[0] != &groups[0] {
		d.groups, d.openAPI = groups, map[string]document{}
	}
	if known, ok := d.openAPI[path]; ok {
		return known, true
	}
	var data []byte
	if path == "v3" {
		data = resources.OpenAPIV3Index(groups)
	} else if version, ok := strings.CutPrefix(path, "v3/"); ok {
		data, _ = resources.OpenAPIV3(groups, versionAt(version))
	}
	if data == nil {
		return document{}, false
	}
	made := newDocument(data)
	d.openAPI[path] = made
	return made, true
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
