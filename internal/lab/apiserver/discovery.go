package apiserver

import (
	"crypto/sha512"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func (x *exchange) discovered() *discovery {
	return x.server.documents.discover(x.server.troubled(), x.r.Host)
}

// troubled returns the versions whose discovery faults disturb.
func (s *Server) troubled() resources.Troubled {
	return resources.Troubled{Unavailable: s.faults.Unavailable(), Outdated: s.faults.Outdated()}
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
		x.sendDocument(http.StatusOK, slices.Clone(known))
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

// documents caches the discovery and OpenAPI documents until the catalog changes.
type documents struct {
	catalog *resources.Catalog

	// mu guards the fields below, which were derived from groups and troubled.
	mu        sync.Mutex
	groups    []resources.Group
	troubled  resources.Troubled
	discovery *discovery
	openAPI   map[string]document // by path below /openapi/
}

// document is an encoded document.
type document struct {
	data []byte
	etag string // without quotes
}

func newDocument(data []byte) document {
	return document{data: data, etag: fmt.Sprintf("%X", sha512.Sum512(data))}
}

// currentLocked drops the cache if the catalog has changed. The catalog replaces its slice of
// groups at every change, so comparing the address suffices.
func (d *documents) currentLocked(troubled resources.Troubled) {
	groups := d.catalog.Groups()
	same := len(groups) == len(d.groups) && len(groups) > 0 && &groups[0] == &d.groups[0]
	if same && slices.Equal(troubled.Unavailable, d.troubled.Unavailable) &&
		slices.Equal(troubled.Outdated, d.troubled.Outdated) {
		return
	}
	d.groups, d.troubled = groups, troubled
	d.discovery, d.openAPI = nil, map[string]document{}
}

// discover returns the discovery documents.
func (d *documents) discover(troubled resources.Troubled, address string) *discovery {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.currentLocked(troubled)
	if d.discovery == nil {
		d.discovery = newDiscovery(d.catalog.GroupsWith(troubled), address)
	}
	return d.discovery
}

// describe returns an OpenAPI document: "v3", or "v3/" and the path of a version.
func (d *documents) describe(path string, troubled resources.Troubled) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.currentLocked(troubled)
	if known, ok := d.openAPI[path]; ok {
		return known, true
	}
	var data []byte
	if path == "v3" {
		data = resources.OpenAPIV3Index(d.groups)
	} else if version, ok := strings.CutPrefix(path, "v3/"); ok {
		data, _ = resources.OpenAPIV3(d.groups, versionAt(version))
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
