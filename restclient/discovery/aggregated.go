package discovery

import (
	"orrery/restclient/api"
)

const (
	aggregatedKind  = "APIGroupDiscoveryList"
	aggregatedGroup = "apidiscovery.k8s.io/"

	// The server wants these parameters in this order.
	acceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," +
		"application/json"
)

// addGroups translates groups of an aggregated document (v2 and v2beta1 have the same shape) into what the legacy documents
// would say. The list of a stale version may be outdated or empty: the version counts as failed.
func (f *found) addGroups(items []api.APIGroupDiscovery) {
	for _, item := range items {
		group := &api.APIGroup{Name: item.Name}
		for _, version := range item.Versions {
			gv := api.GroupVersion{Group: item.Name, Version: version.Version}
			if version.Freshness == api.FreshnessStale {
				f.failed[gv] = &StaleGroupVersionError{GroupVersion: gv}
				continue
			}
			spelt := api.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
			if len(group.Versions) == 0 {
				group.PreferredVersion = spelt
			}
			group.Versions = append(group.Versions, spelt)
			f.resources[gv] = resourceList(gv, version.Resources)
		}
		f.groups = append(f.groups, group)
	}
}

func resourceList(gv api.GroupVersion, resources []api.APIResourceDiscovery) *api.APIResourceList {
	list := &api.APIResourceList{
		TypeMeta:     api.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(),
	}
	for _, r := range resources {
		resource := api.APIResource{
			Name: r.Resource, SingularName: r.SingularResource, Namespaced: r.Scope == api.ScopeNamespaced,
			Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
		}
		// A resource without a kind is there only as the parent of its subresources.
		if setKind(&resource, r.ResponseKind) {
			list.Resources = append(list.Resources, resource)
		}
		for _, s := range r.Subresources {
			subresource := api.APIResource{
				Name: r.Resource + "/" + s.Subresource, SingularName: r.SingularResource,
				Namespaced: resource.Namespaced, Verbs: s.Verbs,
			}
			if setKind(&subresource, s.ResponseKind) {
				list.Resources = append(list.Resources, subresource)
			}
		}
	}
	return list
}

func setKind(resource *api.APIResource, kind *api.DiscoveryKind) bool {
	if kind == nil || *kind == (api.DiscoveryKind{}) {
		return false
	}
	resource.Group, resource.Version, resource.Kind = kind.Group, kind.Version, kind.Kind
	return true
}
