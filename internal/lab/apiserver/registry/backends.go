package registry

import (
	"fmt"
	"net"
	"strconv"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Backend is where a request to a Service goes: to an endpoint that an EndpointSlice calls ready.
// No node forwards packets here, so the server connects to the endpoint itself, as kube-apiserver
// does with --enable-aggregator-routing. An ExternalName is resolved by DNS.
type Backend struct {
	// Address is the host and port to connect to, "" if there is none.
	Address string
	// Reason and Message say why there is none, as in the condition Available of an APIService.
	Reason, Message string
	// Err is the error of a webhook call without an address.
	Err error
}

// serviceLabel is the label of an EndpointSlice with the name of its Service.
const serviceLabel = "kubernetes.io/service-name"

// Backend resolves a port of a Service.
func (r *Registry) Backend(namespace, name string, port int64) Backend {
	stored, ok := r.store.Collection(r.coreServices.Prefix).Get(store.Key{Namespace: namespace, Name: name})
	if !ok {
		return Backend{
			Reason: "ServiceNotFound", Message: fmt.Sprintf("service/%s in %q is not present", name, namespace),
			Err: fmt.Errorf("service %q not found", name),
		}
	}
	service := stored.Decode()
	if service.NestedString("spec", "type") == "ExternalName" {
		return Backend{Address: net.JoinHostPort(service.NestedString("spec", "externalName"), strconv.FormatInt(port, 10))}
	}
	portName, found := servicePort(service, port)
	if !found {
		return Backend{
			Reason: "ServicePortError", Message: fmt.Sprintf("service/%s in %q is not listening on port %d", name, namespace, port),
			Err: fmt.Errorf("no service port %d found for service %q", port, name),
		}
	}
	none := Backend{
		Reason: "EndpointsNotFound", Message: fmt.Sprintf("cannot find endpointslices for service/%s in %q", name, namespace),
		Err: fmt.Errorf("no endpoints available for service %q", name),
	}
	for slice := range r.slicesOf(namespace, name) {
		if address := readyAddress(slice, func(name string) bool { return name == portName }); address != "" {
			return Backend{Address: address}
		}
		none.Reason = "MissingEndpoints"
		none.Message = fmt.Sprintf("endpointslices for service/%s in %q have no addresses with port name %q", name, namespace, portName)
	}
	return none
}

// Ready reports whether a Service has a ready endpoint, on any port.
func (r *Registry) Ready(namespace, name string) bool {
	for slice := range r.slicesOf(namespace, name) {
		if readyAddress(slice, func(string) bool { return true }) != "" {
			return true
		}
	}
	return false
}

// Exists reports whether an object exists. resource is "plural" or "plural.group". An empty
// namespace means any.
func (r *Registry) Exists(resource, namespace, name string) bool {
	for _, d := range r.catalog.All() {
		if d.Qualified() != resource && d.Plural != resource {
			continue
		}
		objects := r.store.Collection(d.Prefix)
		if _, ok := objects.Get(store.Key{Namespace: namespace, Name: name}); ok {
			return true
		}
		if view, err := objects.View(0); err == nil && d.Namespaced && namespace == "" {
			found := false
			view.Ascend("", store.Key{}, func(o *store.Object) bool {
				found = o.Key.Name == name
				return !found
			})
			if found {
				return true
			}
		}
	}
	return false
}

// Stored returns a copy of an object, or nil. resource is "plural" or "plural.group".
func (r *Registry) Stored(resource, namespace, name string) *api.Unstructured {
	for _, d := range r.catalog.All() {
		if d.Qualified() != resource && d.Plural != resource {
			continue
		}
		if o, ok := r.store.Collection(d.Prefix).Get(store.Key{Namespace: namespace, Name: name}); ok {
			return o.Decode()
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

// readyAddress returns the address of a ready endpoint, on the first port whose name is wanted. An
// endpoint without the condition ready is ready.
func readyAddress(slice *api.Unstructured, wanted func(port string) bool) string {
	ports, _ := slice.Nested("ports").([]any)
	endpoints, _ := slice.Nested("endpoints").([]any)
	for _, one := range ports {
		port, _ := one.(map[string]any)
		name, _ := port["name"].(string)
		number, ok := wholeNumber(port["port"])
		if !ok || !wanted(name) {
			continue
		}
		for _, one := range endpoints {
			fields, _ := one.(map[string]any)
			endpoint := api.Unstructured{Object: fields}
			addresses := endpoint.NestedStringSlice("addresses")
			if endpoint.Nested("conditions", "ready") != false && len(addresses) > 0 {
				return net.JoinHostPort(addresses[0], strconv.FormatInt(number, 10))
			}
		}
	}
	return ""
}
