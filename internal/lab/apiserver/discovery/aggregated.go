package discovery

import (
	"mime"
	"strings"

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
