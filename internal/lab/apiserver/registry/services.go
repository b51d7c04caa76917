package registry

import (
	"context"
	"fmt"
	"slices"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// syncService updates the catalog from an APIService. A version of a group that refers to another
// server appears in discovery and does not answer, which is one way for a namespace to get stuck
// ("apiservice 出问题了", the second article, section 五). The group must not disappear while its
// APIService changes: a controller that looks at that moment would conclude that nothing is left.
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

// forgetService removes an APIService's version from the list of unavailable ones.
func (r *Registry) forgetService(t Target) {
	for i, c := range t.Name { // "v1.example.com": version, group
		if c == '.' {
			r.catalog.RemoveUnavailable(t.Name[i+1:], t.Name[:i])
			return
		}
	}
}

// whyUnavailable returns the reason and message of kube-aggregator, as far as they can be known
// without connecting.
func (r *Registry) whyUnavailable(namespace, name string) (reason, message string) {
	d, ok := r.catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: "services"})
	if ok {
		if _, exists := r.store.Collection(d.Prefix).Get(store.Key{Namespace: namespace, Name: name}); exists {
			return "MissingEndpoints", fmt.Sprintf("endpoints for service/%s in %q have no addresses with port name %q", name, namespace, "")
		}
	}
	return "ServiceNotFound", fmt.Sprintf("service/%s in %q is not present", name, namespace)
}

// autoManaged is the label of APIServices that the server creates: "onstart" for built-in groups,
// which the next start restores, and "true" for custom resources, whose APIServices come and go
// with them.
const autoManaged = "kube-aggregator.kubernetes.io/automanaged"

func (r *Registry) makeLocalServices() {
	for gv, priority := range resources.LocalServices {
		if r.isServed(gv) {
			r.makeLocalService(gv, priority, "onstart")
		}
	}
}

// isServed reports whether this server serves a version of a group.
func (r *Registry) isServed(gv api.GroupVersion) bool {
	if gv.Group == "authentication.k8s.io" || gv.Group == "authorization.k8s.io" {
		return true // reviews are not in the catalog
	}
	return slices.ContainsFunc(r.catalog.Groups(), func(g resources.Group) bool {
		return g.Name == gv.Group && slices.ContainsFunc(g.Versions, func(v resources.GroupVersion) bool {
			return v.Version == gv.Version && len(v.Definitions) > 0
		})
	})
}

func (r *Registry) makeLocalService(gv api.GroupVersion, priority resources.Priority, managed string) {
	spec := map[string]any{"version": gv.Version, "groupPriorityMinimum": priority.Group, "versionPriority": priority.Version}
	if gv.Group != "" {
		spec["group"] = gv.Group
	}
	o := &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": serviceName(gv), "labels": map[string]any{autoManaged: managed}}, "spec": spec,
	}}
	t := Target{Definition: r.services, Version: r.services.Version}
	if _, err := r.Create(context.Background(), t, o, WriteOptions{internal: true}); err != nil && !api.IsAlreadyExists(err) {
		panic(fmt.Sprintf("registry: APIService %s: %v", serviceName(gv), err))
	}
}

// serviceName returns the name of an APIService: "v1.apps", and "v1." for the core group.
func serviceName(gv api.GroupVersion) string { return gv.Version + "." + gv.Group }

// registerGroup creates and removes the APIServices of a group so that each version of its custom
// resources has one.
func (r *Registry) registerGroup(group string) {
	r.registering.Lock()
	defer r.registering.Unlock()
	view, err := r.store.Collection(r.services.Prefix).View(0)
	if err != nil {
		return
	}
	wanted := r.customVersions(group)
	var left []*store.Object
	view.Ascend("", store.Key{}, func(o *store.Object) bool {
		service := o.Decode()
		gv := api.GroupVersion{Group: service.NestedString("spec", "group"), Version: service.NestedString("spec", "version")}
		if at := slices.Index(wanted, gv.Version); gv.Group == group && at >= 0 {
			wanted = slices.Delete(wanted, at, at+1)
		} else if gv.Group == group && service.GetLabels()[autoManaged] == "true" {
			left = append(left, o)
		}
		return true
	})
	for _, version := range wanted {
		r.makeLocalService(api.GroupVersion{Group: group, Version: version}, resources.CustomPriority, "true")
	}
	for _, o := range left {
		r.collection(Target{Definition: r.services}).Delete(o)
	}
}

func (r *Registry) customVersions(group string) []string {
	var versions []string
	for _, g := range r.catalog.Groups() {
		for _, v := range g.Versions {
			if g.Name == group && slices.ContainsFunc(v.Definitions, func(d *resources.Definition) bool { return d.Custom }) {
				versions = append(versions, v.Version)
			}
		}
	}
	return versions
}
