package nsctl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"orrery/restclient/api"
)

// deletableResource is a namespaced resource whose objects can be deleted, with the verbs that decide how.
type deletableResource struct {
	gvr                 api.GroupVersionResource
	canList             bool
	canDeleteCollection bool
}

// deletableResources picks what has to be emptied from a discovery answer, sorted by group and name. A group
// version that cannot be parsed is reported beside the rest.
//
// Events are served under two groups from one storage; they are handled once, under the core group where the
// server has both.
func deletableResources(lists []*api.APIResourceList) ([]deletableResource, error) {
	seen := map[api.GroupVersionResource]bool{}
	var resources []deletableResource
	var problems []error
	for _, list := range lists {
		gv, err := api.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			problems = append(problems, fmt.Errorf("unable to parse GroupVersion %q: %w", list.GroupVersion, err))
			continue
		}
		for _, resource := range list.Resources {
			gvr := gv.WithResource(resource.Name)
			if seen[gvr] || !slices.Contains(resource.Verbs, "delete") {
				continue
			}
			seen[gvr] = true
			resources = append(resources, deletableResource{
				gvr:                 gvr,
				canList:             slices.Contains(resource.Verbs, "list"),
				canDeleteCollection: slices.Contains(resource.Verbs, "deletecollection"),
			})
		}
	}
	resources = withoutSecondEvents(resources)
	slices.SortFunc(resources, func(a, b deletableResource) int {
		return cmp.Or(cmp.Compare(a.gvr.Group, b.gvr.Group), cmp.Compare(a.gvr.Resource, b.gvr.Resource))
	})
	return resources, errors.Join(problems...)
}

const eventsGroup = "events.k8s.io"

func withoutSecondEvents(resources []deletableResource) []deletableResource {
	isCoreEvents := func(r deletableResource) bool { return r.gvr.Group == "" && r.gvr.Resource == "events" }
	if !slices.ContainsFunc(resources, isCoreEvents) {
		return resources
	}
	return slices.DeleteFunc(resources, func(r deletableResource) bool {
		return r.gvr.Group == eventsGroup && r.gvr.Resource == "events"
	})
}

// splitPods takes the pods out: they are deleted before anything else (KEP-5080).
func splitPods(resources []deletableResource) (pods *deletableResource, others []deletableResource) {
	for i, resource := range resources {
		if resource.gvr == api.PodsResource {
			pods = &resources[i]
			continue
		}
		others = append(others, resource)
	}
	return pods, others
}
