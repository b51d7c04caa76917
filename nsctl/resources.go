package nsctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orrery/nsctl/internal/shared"
	"orrery/restclient/api"
)

// DeletableResource is a namespaced resource whose objects can be deleted, with the verbs that
// decide how.
type DeletableResource struct {
	GVR                 api.GroupVersionResource
	CanList             bool
	CanDeleteCollection bool
}

// DeletableResources returns the resources with the verb delete of a discovery answer, pods first
// (KEP-5080), the rest sorted by group and name. A group version that cannot be parsed becomes an
// error beside the rest.
//
// Events are served under two groups from one storage; they are deleted once, under the core group
// if the server has both.
func DeletableResources(lists []*api.APIResourceList) ([]DeletableResource, error) {
	seen := map[api.GroupVersionResource]bool{}
	var resources []DeletableResource
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
			resources = append(resources, DeletableResource{
				GVR:                 gvr,
				CanList:             slices.Contains(resource.Verbs, "list"),
				CanDeleteCollection: slices.Contains(resource.Verbs, "deletecollection"),
			})
		}
	}
	resources = withoutSecondEvents(resources)
	rank := map[bool]int{true: -1} // pods first
	slices.SortFunc(resources, func(a, b DeletableResource) int {
		return cmp.Or(rank[a.IsPods()]-rank[b.IsPods()], cmp.Compare(a.GVR.Group, b.GVR.Group),
			cmp.Compare(a.GVR.Resource, b.GVR.Resource))
	})
	return resources, errors.Join(problems...)
}

const eventsGroup = "events.k8s.io"

func withoutSecondEvents(resources []DeletableResource) []DeletableResource {
	isCoreEvents := func(r DeletableResource) bool { return r.GVR.Group == "" && r.GVR.Resource == "events" }
	if !slices.ContainsFunc(resources, isCoreEvents) {
		return resources
	}
	return slices.DeleteFunc(resources, func(r DeletableResource) bool {
		return r.GVR.Group == eventsGroup && r.GVR.Resource == "events"
	})
}

// IsPods reports whether the resource is pods.
func (r DeletableResource) IsPods() bool { return r.GVR == api.PodsResource }

// Phase returns the phase in which the resource is deleted.
func (r DeletableResource) Phase() Phase {
	if r.IsPods() {
		return PhasePods
	}
	return PhaseContent
}

// ForgiveVanished clears the errors of types that were not found because they do not exist any
// more, and their objects with them: a definition was deleted while the pass was under way. A 404
// alone does not prove that (a server that has not learnt of a type yet answers the same), so
// discovery is repeated. A type that it still lists, in whatever version, may have content, and
// so may all types if the answer is incomplete. Upstream takes each 404 for an empty type.
func ForgiveVanished(ctx context.Context, discovery Discovery, notOlderThan time.Time, resources []DeletableResource,
	errs []error) {
	if !slices.ContainsFunc(errs, shared.NotServed) {
		return
	}
	discovery.Invalidate()
	lists, err := discovery.PreferredNamespacedResources(ctx, notOlderThan)
	now, parseErr := DeletableResources(lists)
	if err != nil || parseErr != nil || len(now) == 0 {
		return
	}
	for i, resource := range resources {
		listed := slices.ContainsFunc(now, func(r DeletableResource) bool {
			return r.GVR.Group == resource.GVR.Group && r.GVR.Resource == resource.GVR.Resource
		})
		if shared.NotServed(errs[i]) && !listed {
			errs[i] = nil
		}
	}
}

// finalizerEstimateSeconds is how long an object's finalizers are given before the next look, for
// lack of anything better to go by.
const finalizerEstimateSeconds = 15

// Remains is what a namespace still has of one resource type after its deletion.
type Remains struct {
	Items      int
	Finalizers map[string]int // how many items have each
	// Estimate is the number of seconds that the items are expected to need; 0 if nothing is left.
	Estimate int64
	// Deleted is how many objects this deletion has marked or removed, as far as the server said so.
	// Objects that were marked before do not count.
	Deleted int
}

// maxFinalizers is how many finalizers a [Remains] tells apart. Ordinary objects have a few.
const maxFinalizers = 1000

// add counts the items of a page.
func (r *Remains) add(items int, finalizersOf func(i int) []string) {
	r.Items += items
	for i := range items {
		for _, finalizer := range finalizersOf(i) {
			if r.Finalizers == nil {
				r.Finalizers = map[string]int{}
			}
			finalizer = cutText(finalizer, maxPart)
			if r.Finalizers[finalizer] > 0 || len(r.Finalizers) < maxFinalizers {
				r.Finalizers[finalizer]++
			}
		}
	}
}

// expect sets the estimate. Without one, items with finalizers get 15 seconds.
func (r *Remains) expect(estimate int64) {
	if r.Items == 0 {
		return
	}
	r.Estimate = estimate
	if estimate == 0 && len(r.Finalizers) > 0 {
		r.Estimate = finalizerEstimateSeconds
	}
}

// CountRemains counts items and their finalizers. Without an estimate, items with finalizers get 15
// seconds.
func CountRemains[T interface{ GetFinalizers() []string }](items []T, estimate int64) Remains {
	var left Remains
	left.add(len(items), func(i int) []string { return items[i].GetFinalizers() })
	left.expect(estimate)
	return left
}

// ListRemains is CountRemains for what a list of the type shows, page by page.
func ListRemains(
	ctx context.Context, content ContentClient, gvr api.GroupVersionResource, namespace string, estimate int64,
) (Remains, error) {
	var left Remains
	err := onceMoreIfExpired(func() error {
		left = Remains{}
		return content.Pages(ctx, gvr, namespace, func(page []*api.PartialObjectMetadata) error {
			left.add(len(page), func(i int) []string { return page[i].Finalizers })
			return nil
		})
	})
	if err != nil {
		return Remains{}, WhileListing(gvr, err)
	}
	left.expect(estimate)
	return left, nil
}

// Check returns an error if something is left and neither an estimate nor a finalizer explains it.
func (r Remains) Check(namespace string, gvr api.GroupVersionResource) error {
	if r.Items == 0 || r.Estimate > 0 {
		return nil
	}
	return &UnexpectedItemsError{Namespace: namespace, Resource: gvr, Items: r.Items}
}
