package controllers

import "orrery/restclient/api"

// AvailableResources turns a discovery answer into a set. A group version that cannot be parsed is left out: no
// controller can ask for it.
func AvailableResources(lists []*api.APIResourceList) map[api.GroupVersionResource]bool {
	available := map[api.GroupVersionResource]bool{}
	for _, list := range lists {
		gv, err := api.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, resource := range list.Resources {
			available[gv.WithResource(resource.Name)] = true
		}
	}
	return available
}
