package registry

import (
	"fmt"
	"slices"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// serviceLabel is the label of an EndpointSlice with the name of its Service.
const serviceLabel = "kubernetes.io/service-name"

// missingBackend returns why a Service has no ready endpoint, in the words of the condition
// Available of an APIService; "" if it has one.
func (r *Registry) missingBackend(namespace, name string) (reason, message string) {
	switch _, ok := r.store.Collection(r.coreServices.Prefix).Get(store.Key{Namespace: namespace, Name: name}); {
	case !ok:
		return "ServiceNotFound", fmt.Sprintf("service/%s in %q is not present", name, namespace)
	case r.Ready(namespace, name):
		return "", ""
	}
	return "MissingEndpoints", fmt.Sprintf("endpointslices for service/%s in %q have no addresses", name, namespace)
}

// Ready reports whether a Service has a ready endpoint. An endpoint without the condition ready is
// ready.
func (r *Registry) Ready(namespace, name string) bool {
	view, err := r.store.Collection(r.endpointSlices.Prefix).View(0)
	if err != nil {
		return false
	}
	ready := false
	view.Ascend(namespace, store.Key{}, func(o *store.Object) bool {
		if o.Labels[serviceLabel] == name {
			endpoints, _ := o.Decode().Nested("endpoints").([]any)
			ready = slices.ContainsFunc(endpoints, isReady)
		}
		return !ready
	})
	return ready
}

func isReady(endpoint any) bool {
	fields, _ := endpoint.(map[string]any)
	one := api.Unstructured{Object: fields}
	return one.Nested("conditions", "ready") != false && len(one.NestedStringSlice("addresses")) > 0
}

// Stored returns a copy of an object, or nil. resource is "plural" or "plural.group". An empty
// namespace means any.
func (r *Registry) Stored(resource, namespace, name string) *api.Unstructured {
	for _, d := range r.catalog.All() {
		if d.Qualified() != resource && d.Plural != resource {
			continue
		}
		found, ok := r.store.Collection(d.Prefix).Get(store.Key{Namespace: namespace, Name: name})
		view, err := r.store.Collection(d.Prefix).View(0)
		if err == nil && d.Namespaced && namespace == "" {
			view.Ascend("", store.Key{}, func(o *store.Object) bool {
				found, ok = o, o.Key.Name == name
				return !ok
			})
		}
		if ok {
			return found.Decode()
		}
	}
	return nil
}
