// Package discovery builds the documents under /api and /apis in both forms: the older one, with a
// document for each group and version, and aggregated discovery (KEP-3352), which is everything in
// two documents. [New] builds them from a catalog of resources before they are requested.
//
// A group version whose server does not answer is listed as stale, so that clients know that they
// do not know everything. The namespace controller depends on it: it must not finalize a namespace
// whose content it cannot list.
package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// Documents are the discovery documents for one state of the catalog. They are immutable.
type Documents struct {
	// Versions is /api, Groups is /apis.
	Versions, Groups []byte
	// AggregatedCore and AggregatedGroups are /api and /apis in aggregated form.
	AggregatedCore, AggregatedGroups Aggregated

	groups map[string][]byte
	lists  map[api.GroupVersion][]byte
	stale  map[api.GroupVersion]bool
}

// Aggregated is an aggregated document with its ETag.
type Aggregated struct {
	Document []byte
	// ETag is without quotes.
	ETag string
}

// AggregatedType is the Content-Type of aggregated documents.
const AggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Troubled are versions of groups whose discovery fails, besides those of the catalog.
type Troubled struct {
	// Unavailable versions are announced and do not answer.
	Unavailable []api.GroupVersion
	// Outdated versions answer; only the aggregated document lists them as stale.
	Outdated []api.GroupVersion
}

// New builds the documents. /api announces serverAddress.
func New(catalogue []resources.Group, troubled Troubled, serverAddress string) *Documents {
	all := disturbed(catalogue, troubled)
	d := &Documents{groups: map[string][]byte{}, lists: map[api.GroupVersion][]byte{}, stale: map[api.GroupVersion]bool{}}
	d.AggregatedCore = aggregate(all, true)
	d.AggregatedGroups = aggregate(all, false)
	list := api.APIGroupList{TypeMeta: typeMeta("APIGroupList"), Groups: []api.APIGroup{}}
	for _, g := range all {
		for _, v := range g.Versions {
			gv := api.GroupVersion{Group: g.Name, Version: v.Version}
			if v.Unavailable {
				d.stale[gv] = true
				continue
			}
			d.lists[gv] = encode(resourceList(gv, v))
		}
		if g.Name == "" {
			d.Versions = encode(coreVersions(g, serverAddress))
			continue
		}
		entry := legacyGroup(g)
		list.Groups = append(list.Groups, entry)
		entry.TypeMeta = typeMeta("APIGroup")
		d.groups[g.Name] = encode(entry)
	}
	d.Groups = encode(list)
	return d
}

// Group returns the document /apis/{group}.
func (d *Documents) Group(name string) ([]byte, bool) {
	document, ok := d.groups[name]
	return document, ok
}

// Resources returns the document of a group version.
func (d *Documents) Resources(gv api.GroupVersion) ([]byte, bool) {
	document, ok := d.lists[gv]
	return document, ok
}

// Stale reports whether a group version is announced and does not answer.
func (d *Documents) Stale(gv api.GroupVersion) bool { return d.stale[gv] }

func encode(document any) []byte {
	data, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return data
}

func etag(data []byte) string { return fmt.Sprintf("%X", sha512.Sum512(data)) }

func typeMeta(kind string) api.TypeMeta { return api.TypeMeta{Kind: kind, APIVersion: "v1"} }
