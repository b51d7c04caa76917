package manager

import (
	"context"
	"sync"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// AvailableResources are the resources needed by the selected controllers that the server has. They
// change over time. The zero value has none.
type AvailableResources struct {
	mu        sync.Mutex
	available map[api.GroupVersionResource]bool
}

// Has reports whether the server was last seen with the resource.
func (a *AvailableResources) Has(resource api.GroupVersionResource) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.available[resource]
}

func (a *AvailableResources) set(resource api.GroupVersionResource, has bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.available == nil {
		a.available = map[api.GroupVersionResource]bool{}
	}
	a.available[resource] = has
}

// look requests the group versions of these resources, with one small request each. Every
// authenticated user may do that, and it includes the resources of aggregated API servers.
func (a *AvailableResources) look(ctx context.Context, client *restclient.Client, resources []api.GroupVersionResource) error {
	discoverer := discovery.New(client)
	served := map[api.GroupVersion]map[string]bool{}
	for _, resource := range resources {
		gv := resource.GroupVersion()
		if served[gv] == nil {
			list, err := discoverer.ServerResourcesForGroupVersion(ctx, gv)
			if err != nil && !api.IsNotFound(err) {
				return err
			}
			served[gv] = map[string]bool{}
			if err == nil {
				for _, one := range list.Resources {
					served[gv][one.Name] = true
				}
			}
		}
		a.set(resource, served[gv][resource.Resource])
	}
	return nil
}
