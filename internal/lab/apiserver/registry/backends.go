package registry

import (
	"fmt"
	"slices"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// serviceLabel is the label of an EndpointSlice with the name of its Service.
const serviceLabel = "kubernetes.io/service-name"

// missingBackend returns why a port of a Service has no ready endpoint, in the words of the
// condition Available of an APIService; "" if it has one. That of an ExternalName is in the DNS.
func (r *Registry) missingBackend(namespace, name string, port int64) (reason, message string) {
	stored, ok := r.store.Collection(r.coreServices.Prefix).Get(store.Key{Namespace: namespace, Name: name})
	if !ok {
		return "ServiceNotFound", fmt.Sprintf("service/%s in %q is not present", name, namespace)
	}
	service := stored.Decode()
	if service.NestedString("spec", "type") == "ExternalName" {
		return "", ""
	}
	portName, found := servicePort(service, port)
	if !found {
		return "ServicePortError", fmt.Sprintf("service/%s in %q is not listening on port %d", name, namespace, port)
	}
	reason, message = "EndpointsNotFound", fmt.Sprintf("cannot find endpointslices for service/%s in %q", name, namespace)
	for slice := range r.slicesOf(namespace, name) {
		if hasReady(slice, func(name string) bool { return name == portName }) {
			return "", ""
		}
		reason = "MissingEndpoints"
		message = fmt.Sprintf("endpointslices for service/%s in %q have no addresses with port name %q", name, namespace, portName)
	}
	return reason, message
}

// Ready reports whether a Service has a ready endpoint, on any port.
func (r *Registry) Ready(namespace, name string) bool {
	for slice := range r.slicesOf(namespace, name) {
		if hasReady(slice, func(string) bool { return true }) {
			return true
		}
	}
	return false
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

// slicesOf iterates over the EndpointSlices of a Service.
func (r *Registry) slicesOf(namespace, service string) func(yield func(*api.Unstructured) bool) {
	return func(yield func(*api.Unstructured) bool) {
		view, err := r.store.Collection(r.endpointSlices.Prefix).View(0)
		if err != nil {
			return
		}
		view.Ascend(namespace, store.Key{}, func(o *store.Object) bool {
			return o.Labels[serviceLabel] != service || yield(o.Decode())
		})
	}
}

// servicePort returns the name of a port of a Service.
func servicePort(service *api.Unstructured, port int64) (name string, found bool) {
	ports, _ := service.Nested("spec", "ports").([]any)
	for _, one := range ports {
		fields, _ := one.(map[string]any)
		if number, _ := wholeNumber(fields["port"]); number == port {
			name, _ := fields["name"].(string)
			return name, true
		}
	}
	return "", false
}

// hasReady reports whether a ready endpoint has a port whose name is wanted. An endpoint without
// the condition ready is ready.
func hasReady(slice *api.Unstructured, wanted func(port string) bool) bool {
	ports, _ := slice.Nested("ports").([]any)
	hasPort := slices.ContainsFunc(ports, func(one any) bool {
		port, _ := one.(map[string]any)
		name, _ := port["name"].(string)
		_, numbered := wholeNumber(port["port"])
		return numbered && wanted(name)
	})
	endpoints, _ := slice.Nested("endpoints").([]any)
	return hasPort && slices.ContainsFunc(endpoints, func(one any) bool {
		fields, _ := one.(map[string]any)
		endpoint := api.Unstructured{Object: fields}
		return endpoint.Nested("conditions", "ready") != false && len(endpoint.NestedStringSlice("addresses")) > 0
	})
}
