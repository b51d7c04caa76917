package nsctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	if seen[api.GroupVersionResource{Version: "v1", Resource: "events"}] {
		resources = slices.DeleteFunc(resources, func(r DeletableResource) bool {
			return r.GVR.Group == "events.k8s.io" && r.GVR.Resource == "events"
		})
	}
	rank := map[bool]int{true: -1} // pods first
	slices.SortFunc(resources, func(a, b DeletableResource) int {
		return cmp.Or(rank[a.IsPods()]-rank[b.IsPods()], cmp.Compare(a.GVR.Group, b.GVR.Group),
			cmp.Compare(a.GVR.Resource, b.GVR.Resource))
	})
	return resources, errors.Join(problems...)
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

// finalizerEstimateSeconds is how long an object's finalizers are given before the next look, for
// lack of anything better to go by.
const finalizerEstimateSeconds = 15

// Remains is what a namespace still has of one resource type after its deletion.
type Remains struct {
	Items      int
	Finalizers map[string]int // how many items have each
	// Estimate is the number of seconds that the items are expected to need; 0 if nothing is left.
	Estimate int64
}

// maxFinalizers is how many finalizers a [Remains] tells apart. Ordinary objects have a few.
const maxFinalizers = 1000

// count counts the items of a page.
func count[T interface{ GetFinalizers() []string }](left *Remains, items []T) {
	left.Items += len(items)
	for _, item := range items {
		for _, finalizer := range item.GetFinalizers() {
			if left.Finalizers == nil {
				left.Finalizers = map[string]int{}
			}
			if left.Finalizers[finalizer] > 0 || len(left.Finalizers) < maxFinalizers {
				left.Finalizers[finalizer]++
			}
		}
	}
}

// expect sets the estimate. Without one, items with finalizers get 15 seconds.
func (r Remains) expect(estimate int64) Remains {
	switch {
	case r.Items == 0:
	case estimate == 0 && len(r.Finalizers) > 0:
		r.Estimate = finalizerEstimateSeconds
	default:
		r.Estimate = estimate
	}
	return r
}

// CountRemains counts items and their finalizers. Without an estimate, items with finalizers get 15
// seconds.
func CountRemains[T interface{ GetFinalizers() []string }](items []T, estimate int64) Remains {
	var left Remains
	count(&left, items)
	return left.expect(estimate)
}

// ListRemains is CountRemains for what a list of the type shows, page by page.
func ListRemains(
	ctx context.Context, content ContentClient, gvr api.GroupVersionResource, namespace string, estimate int64,
) (left Remains, err error) {
	err = content.Pages(ctx, gvr, namespace, func(page []*api.PartialObjectMetadata) error {
		count(&left, page)
		return nil
	})
	if err != nil {
		return Remains{}, WhileListing(gvr, err)
	}
	return left.expect(estimate), nil
}

// EstimateGracefulTerminationForPods returns the longest grace period, in seconds, of the pods that
// still run in a namespace that was deleted then. It is 0 once that much time has passed: the pods
// are late then, and the period says nothing any more.
func EstimateGracefulTerminationForPods(pods []*api.Pod, deletedAt time.Time) int64 {
	var estimate int64
	for _, pod := range pods {
		ended := pod.Status.Phase == api.PodSucceeded || pod.Status.Phase == api.PodFailed
		if grace := pod.Spec.TerminationGracePeriodSeconds; !ended && grace != nil {
			estimate = max(estimate, *grace)
		}
	}
	if time.Since(deletedAt) >= time.Duration(estimate)*time.Second {
		return 0
	}
	return estimate
}

// Check returns an error if something is left and neither an estimate nor a finalizer explains it.
func (r Remains) Check(namespace string, gvr api.GroupVersionResource) error {
	if r.Items == 0 || r.Estimate > 0 {
		return nil
	}
	return &UnexpectedItemsError{Namespace: namespace, Resource: gvr, Items: r.Items}
}
