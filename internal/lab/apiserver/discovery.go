package apiserver

import (
	"encoding/json"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// discoveryDocuments are the documents under /api and /apis for one state of the catalog, in both
// forms: the older one, with a document for each group and version, and aggregated discovery
// (KEP-3352). They are immutable.
//
// A group version whose server does not answer is listed as stale, so that clients know that they
// do not know everything. The namespace controller depends on it: it must not finalize a namespace
// whose content it cannot list.
type discoveryDocuments struct {
	// Versions is /api, Groups is /apis.
	Versions, Groups []byte
	// AggregatedCore and AggregatedGroups are /api and /apis in aggregated form.
	AggregatedCore, AggregatedGroups document

	groups map[string][]byte
	lists  map[api.GroupVersion][]byte
	stale  map[api.GroupVersion]bool
}

// aggregatedType is the Content-Type of aggregated documents.
const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// troubledVersions are versions of groups whose discovery fails, besides those of the catalog.
type troubledVersions struct {
	// Unavailable versions are announced and do not answer.
	Unavailable []api.GroupVersion
	// Outdated versions answer; only the aggregated document lists them as stale.
	Outdated []api.GroupVersion
}

// newDiscovery builds the documents. /api announces serverAddress.
func newDiscovery(catalogue []resources.Group, troubled troubledVersions, serverAddress string) *discoveryDocuments {
	all := disturbed(catalogue, troubled)
	d := &discoveryDocuments{groups: map[string][]byte{}, lists: map[api.GroupVersion][]byte{},
		stale: map[api.GroupVersion]bool{}}
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
			d.lists[gv] = encodeDocument(resourceList(gv, v))
		}
		if g.Name == "" {
			d.Versions = encodeDocument(coreVersions(g, serverAddress))
			continue
		}
		entry := legacyGroup(g)
		list.Groups = append(list.Groups, entry)
		entry.TypeMeta = typeMeta("APIGroup")
		d.groups[g.Name] = encodeDocument(entry)
	}
	d.Groups = encodeDocument(list)
	return d
}

// Group returns the document /apis/{group}.
func (d *discoveryDocuments) Group(name string) ([]byte, bool) {
	document, ok := d.groups[name]
	return document, ok
}

// Resources returns the document of a group version.
func (d *discoveryDocuments) Resources(gv api.GroupVersion) ([]byte, bool) {
	document, ok := d.lists[gv]
	return document, ok
}

// Stale reports whether a group version is announced and does not answer.
func (d *discoveryDocuments) Stale(gv api.GroupVersion) bool { return d.stale[gv] }

func encodeDocument(document any) []byte {
	data, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return data
}

func typeMeta(kind string) api.TypeMeta { return api.TypeMeta{Kind: kind, APIVersion: "v1"} }
