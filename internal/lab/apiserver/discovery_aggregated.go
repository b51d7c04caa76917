package apiserver

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// aggregate returns an aggregated document: of the core group, or of all others.
func aggregate(all []resources.Group, core bool) document {
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
	return newDocument(encodeDocument(list), time.Time{})
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
			Resource: d.Plural, SingularResource: d.Singular, Scope: scope, Verbs: verbs(d),
			ResponseKind: &api.DiscoveryKind{Kind: d.Kind}, ShortNames: d.ShortNames, Categories: d.Categories,
		}
		for _, s := range d.Subresources() {
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

// disturbed returns the groups of the catalog with the troubled versions.
func disturbed(catalogue []resources.Group, troubled troubledVersions) []resources.Group {
	all := slices.Clone(catalogue)
	for i := range all {
		all[i].Versions = slices.Clone(all[i].Versions) // they are shared
	}
	for _, gv := range troubled.Unavailable {
		versionOf(&all, gv, true).Unavailable = true
	}
	for _, gv := range troubled.Outdated {
		if v := versionOf(&all, gv, false); v != nil {
			v.Outdated = true
		}
	}
	return all
}

// verbs returns the verbs in kube-apiserver's order, which differs for custom resources.
func verbs(d *resources.Definition) []string {
	if d.Custom && d.Verbs == nil {
		return []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	}
	return d.VerbList()
}

// versionOf returns a version of a group, which it adds if create is set.
func versionOf(all *[]resources.Group, gv api.GroupVersion, create bool) *resources.GroupVersion {
	at := slices.IndexFunc(*all, func(g resources.Group) bool { return g.Name == gv.Group })
	if at < 0 && create {
		at = len(*all)
		*all = append(*all, resources.Group{Name: gv.Group})
	}
	if at < 0 {
		return nil
	}
	versions := &(*all)[at].Versions
	found := slices.IndexFunc(*versions, func(v resources.GroupVersion) bool { return v.Version == gv.Version })
	if found < 0 && create {
		found = len(*versions)
		*versions = append(*versions, resources.GroupVersion{Version: gv.Version})
	}
	if found < 0 {
		return nil
	}
	return &(*versions)[found]
}
