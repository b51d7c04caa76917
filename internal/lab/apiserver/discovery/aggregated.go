package discovery

import (
	"mime"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// aggregate returns an aggregated document: of the core group, or of all others.
func aggregate(all []group, core bool) Aggregated {
	list := api.APIGroupDiscoveryList{
		TypeMeta: api.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
		Items:    []api.APIGroupDiscovery{},
	}
	for _, g := range all {
		if (g.name == "") != core {
			continue
		}
		item := api.APIGroupDiscovery{ObjectMeta: api.ObjectMeta{Name: g.name}}
		for _, v := range g.versions {
			item.Versions = append(item.Versions, aggregateVersion(v))
		}
		list.Items = append(list.Items, item)
	}
	document := encode(list)
	return Aggregated{Document: document, ETag: etag(document)}
}

func aggregateVersion(v version) api.APIVersionDiscovery {
	if v.stale {
		return api.APIVersionDiscovery{Version: v.name, Freshness: api.FreshnessStale}
	}
	out := api.APIVersionDiscovery{Version: v.name, Freshness: api.FreshnessCurrent}
	if v.outdated {
		out.Freshness = api.FreshnessStale
	}
	for _, r := range v.resources {
		scope := api.ScopeCluster
		if r.namespaced {
			scope = api.ScopeNamespaced
		}
		made := api.APIResourceDiscovery{
			Resource: r.plural, ResponseKind: &api.DiscoveryKind{Kind: r.kind}, Scope: scope, SingularResource: r.singular,
			Verbs: r.verbs, ShortNames: r.shortNames, Categories: r.categories,
		}
		for _, s := range r.subresources {
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

// Negotiate reports whether a client prefers the aggregated form. The first known media type
// decides; refused means that there is none.
func Negotiate(accept []string) (aggregated, refused bool) {
	header := strings.Join(accept, ",")
	if strings.TrimSpace(header) == "" {
		return false, false
	}
	for text := range strings.SplitSeq(header, ",") {
		mediaType, params, err := mime.ParseMediaType(text)
		if err != nil {
			continue
		}
		switch mediaType {
		case "application/json":
			if params["as"] == "APIGroupDiscoveryList" && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" {
				return true, false
			}
			if params["as"] == "" {
				return false, false
			}
		case "application/*", "*/*":
			if params["as"] == "" {
				return false, false
			}
		}
	}
	return false, true
}

// group, version and resource are what both forms of documents are built from.
type group struct {
	name     string
	versions []version
}

type version struct {
	name      string
	resources []resource
	stale     bool // its server does not answer
	outdated  bool // listed as stale although its server answers
}

type resource struct {
	plural, singular, kind string
	namespaced             bool
	storageHash            string
	verbs                  []string
	shortNames, categories []string
	subresources           []resources.Subresource
}

// collect combines the groups of the catalog, the reviews and the unavailable groups.
func collect(catalogue []resources.Group, troubled Troubled) []group {
	var all []group
	for _, g := range catalogue {
		if g.Name == reviewsBefore {
			all = append(all, reviews...)
		}
		all = append(all, fromCatalogue(g))
	}
	if !slices.ContainsFunc(all, func(g group) bool { return g.name == reviews[0].name }) {
		all = append(all, reviews...)
	}
	for _, gv := range troubled.Unavailable {
		all = withStale(all, gv)
	}
	for _, gv := range troubled.Outdated {
		outdate(all, gv)
	}
	return all
}

// outdate marks a group version that answers as stale.
func outdate(all []group, gv api.GroupVersion) {
	for i, g := range all {
		at := slices.IndexFunc(g.versions, func(v version) bool { return g.name == gv.Group && v.name == gv.Version })
		if at >= 0 {
			all[i].versions = slices.Clone(g.versions) // those of the reviews are shared
			all[i].versions[at].outdated = true
		}
	}
}

func fromCatalogue(g resources.Group) group {
	out := group{name: g.Name}
	for _, v := range g.Versions {
		made := version{name: v.Version, stale: v.Unavailable}
		for _, d := range v.Definitions {
			made.resources = append(made.resources, resource{
				plural: d.Plural, singular: d.Singular, kind: d.Kind, namespaced: d.Namespaced,
				storageHash: storageHash(d), verbs: verbs(d), shortNames: d.ShortNames, categories: d.Categories, subresources: d.Subresources(),
			})
		}
		out.versions = append(out.versions, made)
	}
	return out
}

// verbs returns the verbs in kube-apiserver's order, which differs for custom resources.
func verbs(d *resources.Definition) []string {
	if d.Custom && d.Verbs == nil {
		return []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	}
	return d.VerbList()
}

// withStale marks or adds a group version that does not answer.
func withStale(all []group, gv api.GroupVersion) []group {
	at := slices.IndexFunc(all, func(g group) bool { return g.name == gv.Group })
	if at < 0 {
		return append(all, group{name: gv.Group, versions: []version{{name: gv.Version, stale: true}}})
	}
	versions := slices.Clone(all[at].versions)
	stale := version{name: gv.Version, stale: true}
	if i := slices.IndexFunc(versions, func(v version) bool { return v.name == gv.Version }); i >= 0 {
		versions[i] = stale
	} else {
		versions = append(versions, stale)
	}
	all[at].versions = versions
	return all
}
