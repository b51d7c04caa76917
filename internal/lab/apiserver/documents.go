package apiserver

import (
	"crypto/sha512"
	"fmt"
	"slices"
	"sync"
	"time"

	"orrery/internal/lab/apiserver/discovery"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// documents caches the discovery and OpenAPI documents until the catalog changes.
type documents struct {
	catalog *resources.Catalog

	// mu guards the fields below, which were derived from groups and troubled.
	mu        sync.Mutex
	groups    []resources.Group
	troubled  discovery.Troubled
	made      time.Time
	discovery *discovery.Documents
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
func (d *documents) currentLocked(troubled discovery.Troubled) {
	groups := d.catalog.Groups()
	same := len(groups) == len(d.groups) && len(groups) > 0 && &groups[0] == &d.groups[0]
	if same && slices.Equal(troubled.Unavailable, d.troubled.Unavailable) && slices.Equal(troubled.Outdated, d.troubled.Outdated) {
		return
	}
	d.groups, d.troubled, d.made = groups, troubled, time.Now()
	d.discovery, d.openAPI = nil, map[string]document{}
}

// discover returns the discovery documents.
func (d *documents) discover(troubled discovery.Troubled, address string) *discovery.Documents {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.currentLocked(troubled)
	if d.discovery == nil {
		d.discovery = discovery.New(d.groups, troubled, address)
	}
	return d.discovery
}

// describe returns an OpenAPI document: "v3", or "v3/" and the path of a group version.
func (d *documents) describe(path string, gv api.GroupVersion, troubled discovery.Troubled) (document, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.currentLocked(troubled)
	if known, ok := d.openAPI[path]; ok {
		return known, true
	}
	described := describable(d.groups)
	var data []byte
	if path == "v3" {
		data = schema.OpenAPIV3Index(described)
	} else if group, ok := schema.OpenAPIV3(described, gv); ok {
		data = group
	} else {
		return document{}, false
	}
	made := newDocument(data, d.made)
	d.openAPI[path] = made
	return made, true
}

// describable converts the catalog for package schema.
func describable(groups []resources.Group) []schema.Resource {
	var all []schema.Resource
	for _, g := range groups {
		for _, v := range g.Versions {
			for _, def := range v.Definitions {
				all = append(all, schema.Resource{
					GVK: kindOfResource(def), Plural: def.Plural, Namespaced: def.Namespaced, Verbs: def.Verbs,
					Custom: def.Custom, Schema: def.Schema,
				})
			}
		}
	}
	return all
}
