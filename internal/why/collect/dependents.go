package collect

import (
	"context"
	"slices"
	"sync"

	"orrery/internal/why"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// dependents reads the objects outside the namespace that have it as their owner and block its
// deletion in the foreground. They may be of any type, so that it lists the heads of them all, and
// only if [Options.Deep] asks for it.
func (c *collector) dependents(ctx context.Context) {
	e := &c.evidence
	var mu sync.Mutex // guards the evidence while the lists are read
	e.Dependents.Request = "GET every type of the cluster"
	err := c.take(discoveryRequests)
	var lists []*api.APIResourceList
	if err == nil {
		lists, err = discovery.NewWithConfig(c.client, discovery.Config{OnlyWhenReady: true}).ServerPreferredResources(api.WithSingleAttempt(ctx))
	}
	e.Dependents.Failed = failure(e.Dependents.Request, "get /apis", err)
	var reads []func()
	for _, list := range lists {
		gv, err := api.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.Resources {
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			gvr := gv.WithResource(r.Name)
			reads = append(reads, func() {
				found, err := c.blocking(ctx, gvr)
				mu.Lock()
				defer mu.Unlock()
				e.Dependents.Items = append(e.Dependents.Items, found...)
				if e.Dependents.Failed == nil {
					e.Dependents.Failed = failure(requestFor(gvr, "", api.ListOptions{Limit: pageSize}), "list "+kubectlName(gvr), err)
				}
			})
		}
	}
	parallel(reads...)
	slices.SortFunc(e.Dependents.Items, why.Dependent.Compare)
}

// blocking returns the objects of a type that block the deletion of the namespace.
func (c *collector) blocking(ctx context.Context, gvr api.GroupVersionResource) (found []why.Dependent, err error) {
	err = c.heads(ctx, gvr, func(item *api.PartialObjectMetadata) {
		object := objectOf(&item.ObjectMeta)
		if item.Namespace != c.evidence.Name && object.Blocks(c.evidence.Namespace.UID) {
			found = append(found, why.Dependent{Object: object, Resource: kubectlName(gvr), Namespace: item.Namespace})
		}
	})
	return found, err
}
