package registry

import (
	"context"
	"fmt"
	"slices"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// remoteService is the reference of an APIService to another server.
type remoteService struct {
	// groupVersion is what the other server serves.
	groupVersion api.GroupVersion
	// namespace and name are those of its Service.
	namespace, name string
}

// noRequests is the message of an APIService whose Service has a ready endpoint.
const noRequests = "this server makes no requests to other servers; the fault broken-group plays one"

// syncService updates the catalog and the condition Available from an APIService. A version of a
// group that refers to another server appears in discovery even if that does not answer, which is
// one way for a namespace to get stuck ("apiservice 出问题了", the second article, section 五). The
// group must not disappear while its APIService changes: a controller that lists then
// would conclude that nothing is left.
func (r *Registry) syncService(name string) {
	r.syncing.Lock()
	defer r.syncing.Unlock()
	t := Target{Definition: r.services, Name: name}
	current, ok := r.collection(t).Get(t.key())
	if !ok {
		r.forgetServiceLocked(name)
		return
	}
	remote, isRemote := remoteOf(current.Decode())
	if !isRemote {
		r.forgetServiceLocked(name)
		r.available(name, api.ConditionTrue, "Local", "Local APIServices are always available")
		return
	}
	r.remotes[name] = remote
	r.catalog.PutRemote(remote.groupVersion)
	reason, message := r.missingBackend(remote.namespace, remote.name)
	if reason == "" {
		reason, message = "FailedDiscoveryCheck", noRequests
	}
	r.available(name, api.ConditionFalse, reason, message)
}

// remoteOf returns the reference of an APIService to another server, if it has one.
func remoteOf(o *api.Unstructured) (remoteService, bool) {
	spec, _ := o.Nested("spec").(map[string]any)
	service, remote := spec["service"].(map[string]any)
	if !remote {
		return remoteService{}, false
	}
	s := remoteService{
		groupVersion: api.GroupVersion{Group: o.NestedString("spec", "group"),
			Version: o.NestedString("spec", "version")},
	}
	s.namespace, _ = service["namespace"].(string)
	s.name, _ = service["name"].(string)
	return s, true
}

// syncBackends updates the APIServices that refer to a Service after it or its endpoints changed.
func (r *Registry) syncBackends(namespace, service string) {
	r.syncing.Lock()
	var names []string
	for name, remote := range r.remotes {
		if remote.namespace == namespace && remote.name == service {
			names = append(names, name)
		}
	}
	r.syncing.Unlock()
	slices.Sort(names)
	for _, name := range names {
		r.syncService(name)
	}
}

// available writes the condition Available of an APIService.
func (r *Registry) available(name string, status api.ConditionStatus, reason, message string) {
	r.amend(Target{Definition: r.services, Name: name}, func(o *api.Unstructured) bool {
		return SetCondition(o, "Available", status, reason, message)
	})
}

// forgetServiceLocked removes the version of an APIService from those of other servers.
func (r *Registry) forgetServiceLocked(name string) {
	if remote, ok := r.remotes[name]; ok {
		delete(r.remotes, name)
		r.catalog.RemoveRemote(remote.groupVersion)
	}
}

// makeLocalServices creates the APIServices of the built-in groups, which have the label of those
// that kube-apiserver restores at every start.
func (r *Registry) makeLocalServices() {
	t := Target{Definition: r.services}
	for gv, priority := range resources.LocalServices() {
		name := gv.Version + "." + gv.Group // "v1.apps", and "v1." for the core group
		spec := map[string]any{
			"version": gv.Version, "groupPriorityMinimum": priority.Group, "versionPriority": priority.Version,
		}
		if gv.Group != "" {
			spec["group"] = gv.Group
		}
		labels := map[string]any{"kube-aggregator.kubernetes.io/automanaged": "onstart"}
		o := &api.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name, "labels": labels}, "spec": spec,
		}}
		_, err := r.Create(context.Background(), t, o, WriteOptions{internal: true})
		if err != nil && !api.IsAlreadyExists(err) {
			panic(fmt.Sprintf("registry: APIService %s: %v", name, err))
		}
	}
}

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
	view, _ := r.store.Collection(r.endpointSlices.Prefix).View(0) // it is never dropped
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
