package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
)

// discover discovers everything: two requests to a server with aggregated discovery, otherwise one
// more for each group version.
func (c *Client) discover(ctx context.Context) (*found, error) {
	if c.cfg.OnlyWhenReady {
		ctx = api.WithSingleAttempt(ctx)
		if err := c.ready(ctx); err != nil {
			return nil, err
		}
	}
	result, err := c.groups(ctx)
	if err != nil {
		return nil, err
	}
	c.fillIn(ctx, result)
	if err := context.Cause(ctx); err != nil {
		return nil, err // cancelled by the caller
	}
	return result, nil
}

// groups fetches /api and /apis in parallel. Aggregated documents include the resources.
func (c *Client) groups(ctx context.Context) (*found, error) {
	var core *found
	var coreErr error
	var asking sync.WaitGroup
	asking.Go(func() { core, coreErr = c.document(ctx, "/api") })
	named, err := c.document(ctx, "/apis")
	asking.Wait()
	if err = cmp.Or(coreErr, err); err != nil {
		return nil, err
	}
	core.add(named)
	return core, nil
}

// groupsDocument is any document of /api and /apis; the kind decides which fields it has.
type groupsDocument struct {
	api.TypeMeta
	Versions []string                `json:"versions"` // APIVersions, /api of old servers
	Groups   []api.APIGroup          `json:"groups"`   // APIGroupList, /apis of old servers
	Items    []api.APIGroupDiscovery `json:"items"`    // APIGroupDiscoveryList, both on new ones
}

// document fetches /api or /apis.
func (c *Client) document(ctx context.Context, path string) (*found, error) {
	var doc groupsDocument
	asOf, err := c.get(ctx, restclient.Request{Path: path, Accept: acceptAggregated}, &doc)
	if err != nil {
		return nil, err
	}
	result := newFound(asOf)
	// Check the kind, not the Content-Type: some proxies remove its parameters.
	switch {
	case doc.Kind == aggregatedKind && strings.HasPrefix(doc.APIVersion, aggregatedGroup):
		result.addGroups(doc.Items)
	case doc.Kind == "APIVersions":
		result.addCore(doc.Versions)
	case doc.Kind == "APIGroupList":
		for i := range doc.Groups {
			result.groups = append(result.groups, &doc.Groups[i])
		}
	default:
		return nil, unexpected(path, fmt.Errorf("its kind is %q", api.CutText(doc.Kind)))
	}
	for _, group := range result.groups {
		if group.Name == "" && path != "/api" { // it would replace the core group
			return nil, unexpected(path, errNoGroupName)
		}
	}
	return result, nil
}

var errNoGroupName = errors.New("it has a group without a name")

// addCore adds the core group with the versions of /api. The first is preferred.
func (f *found) addCore(versions []string) {
	if len(versions) == 0 {
		return
	}
	group := &api.APIGroup{}
	for _, version := range versions {
		group.Versions = append(group.Versions, api.GroupVersionForDiscovery{GroupVersion: version, Version: version})
	}
	group.PreferredVersion = group.Versions[0]
	f.groups = append(f.groups, group)
}

// fillIn fetches the missing resources of group versions in parallel. It records failures.
func (c *Client) fillIn(ctx context.Context, result *found) {
	var missing []api.GroupVersion
	for _, gv := range result.versions {
		if result.resources[gv] == nil {
			missing = append(missing, gv)
		}
	}
	var mu sync.Mutex // guards result
	var running sync.WaitGroup
	slots := make(chan struct{}, concurrency)
	for _, gv := range missing {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			list, asOf, err := c.resources(ctx, gv)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				result.failed[gv] = err
				return
			}
			result.resources[gv] = list
			result.describes(asOf)
		})
	}
	running.Wait()
}

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
	return &found{resources: map[api.GroupVersion]*api.APIResourceList{}, failed: map[api.GroupVersion]error{},
		asOf: asOf}
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
