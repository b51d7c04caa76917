package apiserver

import (
	"encoding/json"
	"net/http"
	"strings"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// discovery has the documents under /api and /apis for one state of the catalog, in both forms: the
// older one, with a document for each group and version, and aggregated discovery (KEP-3352). They
// are immutable.
//
// A group version whose server does not answer is listed as stale, so that clients know that they
// do not know everything. The namespace controller depends on it: it must not finalize a namespace
// whose content it cannot list.
type discovery struct {
	// byPath are the documents of the older form: "api", "api/v1", "apis", "apis/apps",
	// "apis/apps/v1".
	byPath map[string][]byte
	// aggregated are "api" and "apis" in aggregated form.
	aggregated map[string][]byte
	// stale are the paths of versions that are announced and do not answer.
	stale map[string]bool
}

// aggregatedType is the Content-Type of aggregated documents.
const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// newDiscovery builds the documents. /api announces serverAddress.
func newDiscovery(all []resources.Group, serverAddress string) *discovery {
	d := &discovery{
		byPath: map[string][]byte{}, stale: map[string]bool{},
		aggregated: map[string][]byte{"api": aggregate(all, true), "apis": aggregate(all, false)},
	}
	list := api.APIGroupList{TypeMeta: typeMeta("APIGroupList"), Groups: []api.APIGroup{}}
	for _, g := range all {
		for _, v := range g.Versions {
			gv := api.GroupVersion{Group: g.Name, Version: v.Version}
			if v.Unavailable {
				d.stale[resources.PathOf(gv)] = true
			} else {
				d.byPath[resources.PathOf(gv)] = encodeDocument(resourceList(gv, v))
			}
		}
		if g.Name == "" {
			d.byPath["api"] = encodeDocument(coreVersions(g, serverAddress))
			continue
		}
		entry := legacyGroup(g)
		list.Groups = append(list.Groups, entry)
		entry.TypeMeta = typeMeta("APIGroup")
		d.byPath["apis/"+g.Name] = encodeDocument(entry)
	}
	d.byPath["apis"] = encodeDocument(list)
	return d
}

func encodeDocument(document any) []byte {
	data, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return data
}

func typeMeta(kind string) api.TypeMeta { return api.TypeMeta{Kind: kind, APIVersion: "v1"} }

// coreVersions returns the document /api.
func coreVersions(g resources.Group, serverAddress string) map[string]any {
	var versions []string
	for _, v := range g.Versions {
		versions = append(versions, v.Version)
	}
	return map[string]any{
		"kind": "APIVersions", "versions": versions,
		"serverAddressByClientCIDRs": []any{
			map[string]string{"clientCIDR": "0.0.0.0/0", "serverAddress": serverAddress},
		},
	}
}

func legacyGroup(g resources.Group) api.APIGroup {
	entry := api.APIGroup{Name: g.Name}
	for _, v := range g.Versions {
		gv := api.GroupVersion{Group: g.Name, Version: v.Version}
		offered := api.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Version}
		entry.Versions = append(entry.Versions, offered)
	}
	entry.PreferredVersion = entry.Versions[0]
	return entry
}

func resourceList(gv api.GroupVersion, v resources.GroupVersion) api.APIResourceList {
	list := api.APIResourceList{
		TypeMeta: typeMeta("APIResourceList"), GroupVersion: gv.String(), Resources: []api.APIResource{},
	}
	if gv.Group == "" {
		list.APIVersion = "" // as in kube-apiserver
	}
	for _, d := range v.Definitions {
		list.Resources = append(list.Resources, api.APIResource{
			Name: d.Plural, SingularName: d.Singular, Namespaced: d.Namespaced, Kind: d.Kind,
			Verbs: d.Verbs, ShortNames: d.ShortNames, Categories: d.Categories,
		})
		for _, s := range d.Subresources {
			list.Resources = append(list.Resources, api.APIResource{
				Name: d.Plural + "/" + s.Name, Namespaced: d.Namespaced,
				Group: s.Kind.Group, Version: s.Kind.Version, Kind: s.Kind.Kind, Verbs: s.Verbs,
			})
		}
	}
	return list
}

// aggregate returns an aggregated document: of the core group, or of all others.
func aggregate(all []resources.Group, core bool) []byte {
	list := api.APIGroupDiscoveryList{
		TypeMeta: api.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
		Items:    []api.APIGroupDiscovery{},
	}
	for _, g := range all {
		if (g.Name == "") != core {
			continue
		}
		item := api.APIGroupDiscovery{ObjectMeta: api.ObjectMeta{Name: g.Name}}
		for _, v := range g.Versions {
			item.Versions = append(item.Versions, aggregateVersion(v))
		}
		list.Items = append(list.Items, item)
	}
	return encodeDocument(list)
}

func aggregateVersion(v resources.GroupVersion) api.APIVersionDiscovery {
	out := api.APIVersionDiscovery{Version: v.Version, Freshness: api.FreshnessCurrent}
	if v.Unavailable || v.Outdated {
		out.Freshness = api.FreshnessStale
	}
	if v.Unavailable {
		return out
	}
	for _, d := range v.Definitions {
		scope := api.ScopeCluster
		if d.Namespaced {
			scope = api.ScopeNamespaced
		}
		made := api.APIResourceDiscovery{
			Resource: d.Plural, SingularResource: d.Singular, Scope: scope, Verbs: d.Verbs,
			ResponseKind: &api.DiscoveryKind{Kind: d.Kind}, ShortNames: d.ShortNames, Categories: d.Categories,
		}
		for _, s := range d.Subresources {
			made.Subresources = append(made.Subresources, api.APISubresourceDiscovery{
				Subresource:  s.Name,
				ResponseKind: &api.DiscoveryKind{Group: s.Kind.Group, Version: s.Kind.Version, Kind: s.Kind.Kind},
				Verbs:        s.Verbs,
			})
		}
		out.Resources = append(out.Resources, made)
	}
	return out
}

// wantsAggregated reports whether a client prefers the aggregated form.
func wantsAggregated(header http.Header) bool {
	for _, c := range parseAccept(strings.Join(header.Values("Accept"), ",")) {
		switch as := c.params["as"]; {
		case c.mediaType == mediaJSON && as == "APIGroupDiscoveryList" &&
			c.params["g"] == "apidiscovery.k8s.io" && c.params["v"] == "v2":
			return true
		case as == "":
			return false
		}
	}
	return false
}
