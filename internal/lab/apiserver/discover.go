package apiserver

import (
	"crypto/sha512"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func (x *exchange) discovered() *discoveryDocuments {
	return x.server.documents.discover(x.server.troubled(), x.r.Host)
}

// troubled returns the versions whose discovery faults disturb.
func (s *Server) troubled() troubledVersions {
	return troubledVersions{Unavailable: s.faults.Unavailable(), Outdated: s.faults.Outdated()}
}

// serveDiscovery serves the discovery documents below /api and /apis.
func (x *exchange) serveDiscovery() error {
	documents := x.discovered()
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(x.r.URL.Path, "/"), "/"), "/")
	switch {
	case len(parts) == 1 && parts[0] == "api":
		return x.serveRoot(documents.Versions, documents.AggregatedCore)
	case len(parts) == 1:
		return x.serveRoot(documents.Groups, documents.AggregatedGroups)
	case parts[0] == "api" && len(parts) == 2:
		document, ok := documents.Resources(api.GroupVersion{Version: parts[1]})
		if !ok {
			return errNoSuchResource()
		}
		return x.serveDiscovered(document)
	case parts[0] == "apis" && len(parts) == 2:
		if document, ok := documents.Group(parts[1]); ok {
			return x.serveDiscovered(document)
		}
	case parts[0] == "apis" && len(parts) == 3:
		gv := api.GroupVersion{Group: parts[1], Version: parts[2]}
		if document, ok := documents.Resources(gv); ok {
			return x.serveDiscovered(document)
		}
		if documents.Stale(gv) {
			x.sendText(http.StatusServiceUnavailable, "service unavailable\n")
			return nil
		}
		if _, known := documents.Group(gv.Group); known && !x.isCustomGroup(gv.Group) {
			return errNoSuchResource()
		}
	}
	x.notFoundText()
	return nil
}

func (x *exchange) serveDiscovered(document []byte) error {
	return x.readOnly(func() error {
		x.sendDocument(http.StatusOK, slices.Clone(document))
		return nil
	})
}

// serveRoot serves /api and /apis in the form that the client prefers.
func (x *exchange) serveRoot(legacy []byte, aggregated document) error {
	if x.r.Method != http.MethodGet {
		return methodNotAllowed()
	}
	if !wantsAggregated(x.r.Header) {
		return x.serveDiscovered(legacy)
	}
	x.w.Header().Set("Cache-Control", "public")
	x.w.Header().Add("Vary", "Accept")
	if x.unchanged(aggregated.etag) {
		return nil
	}
	data := aggregated.data
	if x.form.Pretty {
		data = indented(data)
	}
	x.send(http.StatusOK, aggregatedType, data)
	return nil
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
	troubled  troubledVersions
	made      time.Time
	discovery *discoveryDocuments
	openAPI   map[string]document // by path below /openapi/
}

// document is an encoded document.
type document struct {
	data []byte
	etag string // without quotes
	made time.Time
}

func newDocument(data []byte, made time.Time) document {
	return document{data: data, etag: fmt.Sprintf("%X", sha512.Sum512(data)), made: made}
}

// currentLocked drops the cache if the catalog has changed. The catalog replaces its slice of
// groups at every change, so comparing the address suffices.
func (d *documents) currentLocked(troubled troubledVersions) {
	groups := d.catalog.Groups()
	same := len(groups) == len(d.groups) && len(groups) > 0 && &groups[0] == &d.groups[0]
	if same && slices.Equal(troubled.Unavailable, d.troubled.Unavailable) && slices.Equal(troubled.Outdated, d.troubled.Outdated) {
		return
	}
	d.groups, d.troubled, d.made = groups, troubled, time.Now()
	d.discovery, d.openAPI = nil, map[string]document{}
}

// discover returns the discovery documents.
func (d *documents) discover(troubled troubledVersions, address string) *discoveryDocuments {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.currentLocked(troubled)
	if d.discovery == nil {
		d.discovery = newDiscovery(d.groups, troubled, address)
	}
	return d.discovery
}

// describe returns an OpenAPI document: "v3", or "v3/" and the path of a group version.
func (d *documents) describe(path string, gv api.GroupVersion, troubled troubledVersions) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.currentLocked(troubled)
	if known, ok := d.openAPI[path]; ok {
		return known, true
	}
	var data []byte
	if path == "v3" {
		data = resources.OpenAPIV3Index(d.groups)
	} else if group, ok := resources.OpenAPIV3(d.groups, gv); ok {
		data = group
	} else {
		return document{}, false
	}
	made := newDocument(data, d.made)
	d.openAPI[path] = made
	return made, true
}
