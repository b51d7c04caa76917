package registry

import (
	"fmt"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// syncService makes the catalog say what an APIService says: a version of a group that another server is to serve. There
// is no other server here, so that the group is in discovery and does not answer, which is how a namespace gets stuck:
// "apiservice 出问题了" (the second article, section 五). The group must not vanish for a moment while its APIService changes: a
// controller that looks right then believes that it has seen everything, and finalizes.
func (r *Registry) syncService(name string) {
	r.syncing.Lock()
	defer r.syncing.Unlock()
	t := Target{Definition: r.services, Version: r.services.Version, Name: name}
	current, ok := r.collection(t).Get(t.key())
	if !ok {
		r.forgetService(t)
		return
	}
	o := current.Decode()
	service, remote := o.Nested("spec", "service").(map[string]any)
	if !remote {
		r.forgetService(t)
		r.amend(t, func(o *api.Unstructured) bool {
			return setCondition(o, "Available", api.ConditionTrue, "Local", "Local APIServices are always available")
		})
		return
	}
	r.catalog.PutUnavailable(o.NestedString("spec", "group"), o.NestedString("spec", "version"))
	namespace, _ := service["namespace"].(string)
	serviceName, _ := service["name"].(string)
	reason, message := r.whyUnavailable(namespace, serviceName)
	r.amend(t, func(o *api.Unstructured) bool {
		return setCondition(o, "Available", api.ConditionFalse, reason, message)
	})
}

// forgetService takes the version that an APIService is named for out of the list of those that do not answer.
func (r *Registry) forgetService(t Target) {
	for i, c := range t.Name { // "v1.example.com": the version, then the group
		if c == '.' {
			r.catalog.RemoveUnavailable(t.Name[i+1:], t.Name[:i])
			return
		}
	}
}

// whyUnavailable words the reason as kube-aggregator does, as far as it can be known without connecting to anything.
func (r *Registry) whyUnavailable(namespace, name string) (reason, message string) {
	d, ok := r.catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: "services"})
	if ok {
		if _, exists := r.store.Collection(d.Prefix).Get(store.Key{Namespace: namespace, Name: name}); exists {
			return "MissingEndpoints", fmt.Sprintf("endpoints for service/%s in %q have no addresses with port name %q", name, namespace, "")
		}
	}
	return "ServiceNotFound", fmt.Sprintf("service/%s in %q is not present", name, namespace)
}
