package discovery

import (
	"maps"
	"strings"
	"time"

	"orrery/restclient/api"
)

// found is a (partial) result of discovery. It is immutable once complete.
type found struct {
	groups    []*api.APIGroup
	resources map[api.GroupVersion]*api.APIResourceList // a group version may be missing: not requested yet, or failed
	failed    map[api.GroupVersion]error

	// asOf is the earliest moment, by the server's clock, that a part of this describes; zero if a
	// part's moment is unknown.
	asOf time.Time
}

func newFound(asOf time.Time) *found {
	return &found{resources: map[api.GroupVersion]*api.APIResourceList{}, failed: map[api.GroupVersion]error{}, asOf: asOf}
}

// add appends the content of another document.
func (f *found) add(other *found) {
	f.groups = append(f.groups, other.groups...)
	maps.Copy(f.resources, other.resources)
	maps.Copy(f.failed, other.failed)
	f.describes(other.asOf)
}

func (f *found) describes(asOf time.Time) {
	if asOf.Before(f.asOf) { // zero is before everything
		f.asOf = asOf
	}
}

// failure returns the error beside the result, nil if it is complete.
func (f *found) failure() error {
	if len(f.failed) == 0 {
		return nil
	}
	return &ErrGroupDiscoveryFailed{Groups: f.failed}
}

// versions calls yield for each group version in the server's order.
func (f *found) versions(yield func(*api.APIGroup, api.GroupVersion) bool) {
	for _, group := range f.groups {
		for _, version := range group.Versions {
			if !yield(group, api.GroupVersion{Group: group.Name, Version: version.Version}) {
				return
			}
		}
	}
}

// lists returns the resources in the server's order.
func (f *found) lists() []*api.APIResourceList {
	var lists []*api.APIResourceList
	for _, gv := range f.versions {
		if list := f.resources[gv]; list != nil {
			lists = append(lists, list)
		}
	}
	return lists
}

func everything(*api.APIResource) bool { return true }

func namespaced(r *api.APIResource) bool { return r.Namespaced }

// preferred selects a version for each resource: the group's preferred one if it has the resource,
// else the first that does. Group versions without a selected resource are left out.
func (f *found) preferred(wanted func(*api.APIResource) bool) []*api.APIResourceList {
	type groupResource struct{ group, resource string }
	chosen := map[groupResource]api.GroupVersion{}
	for group, gv := range f.versions {
		for _, resource := range topLevel(f.resources[gv]) {
			key := groupResource{gv.Group, resource.Name}
			if _, exists := chosen[key]; !exists || gv.Version == group.PreferredVersion.Version {
				chosen[key] = gv
			}
		}
	}
	var lists []*api.APIResourceList
	for _, gv := range f.versions {
		var picked []api.APIResource
		for _, resource := range topLevel(f.resources[gv]) {
			if chosen[groupResource{gv.Group, resource.Name}] == gv && wanted(&resource) {
				picked = append(picked, resource)
			}
		}
		if len(picked) > 0 {
			lists = append(lists, &api.APIResourceList{
				TypeMeta: f.resources[gv].TypeMeta, GroupVersion: gv.String(), Resources: picked,
			})
		}
	}
	return lists
}

// topLevel returns the resources without subresources.
func topLevel(list *api.APIResourceList) []api.APIResource {
	if list == nil {
		return nil
	}
	var resources []api.APIResource
	for _, resource := range list.Resources {
		if !strings.Contains(resource.Name, "/") {
			resources = append(resources, resource)
		}
	}
	return resources
}

const (
	aggregatedKind  = "APIGroupDiscoveryList"
	aggregatedGroup = "apidiscovery.k8s.io/"

	// The server requires these parameters in this order.
	acceptAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," +
		"application/json"
)

// addGroups converts groups of an aggregated document (v2 and v2beta1 have the same shape) to the
// legacy types. A stale version may be outdated or empty: it counts as failed.
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
		// A resource without a kind only exists as the parent of its subresources.
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
