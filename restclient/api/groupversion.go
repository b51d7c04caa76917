package api

import (
	"fmt"
	"strings"
)

// GroupVersion is an API group at a version. The core group is the empty string.
type GroupVersion struct {
	Group   string
	Version string
}

// ParseGroupVersion reads "group/version", or "version" for the core group.
func ParseGroupVersion(s string) (GroupVersion, error) {
	switch parts := strings.Split(s, "/"); {
	case s == "" || s == "/":
		return GroupVersion{}, nil
	case len(parts) == 1:
		return GroupVersion{Version: parts[0]}, nil
	case len(parts) == 2:
		return GroupVersion{Group: parts[0], Version: parts[1]}, nil
	default:
		return GroupVersion{}, fmt.Errorf("unexpected GroupVersion string: %v", s)
	}
}

// String returns "group/version", or "version" for the core group.
func (gv GroupVersion) String() string {
	if gv.Group == "" {
		return gv.Version
	}
	return gv.Group + "/" + gv.Version
}

// WithResource names a resource of this group and version.
func (gv GroupVersion) WithResource(resource string) GroupVersionResource {
	return GroupVersionResource{Group: gv.Group, Version: gv.Version, Resource: resource}
}

// GroupVersionResource names a collection that an API server serves, by its plural lower-case name.
type GroupVersionResource struct {
	Group    string
	Version  string
	Resource string
}

// GroupVersion returns the group and version without the resource.
func (gvr GroupVersionResource) GroupVersion() GroupVersion {
	return GroupVersion{Group: gvr.Group, Version: gvr.Version}
}

// GroupResource returns "resource.group", or "resource." with its trailing dot for the core group:
// the form that the namespace conditions use.
func (gvr GroupVersionResource) GroupResource() string { return gvr.Resource + "." + gvr.Group }

// String returns "group/version, Resource=resource", the form in which Kubernetes prints it in
// messages.
func (gvr GroupVersionResource) String() string {
	return gvr.Group + "/" + gvr.Version + ", Resource=" + gvr.Resource
}

// GroupVersionKind names a type of object.
type GroupVersionKind struct {
	Group   string
	Version string
	Kind    string
}

// String returns "group/version, Kind=kind".
func (gvk GroupVersionKind) String() string {
	return gvk.Group + "/" + gvk.Version + ", Kind=" + gvk.Kind
}

// The resources that this project names itself.
var (
	NamespacesResource = GroupVersionResource{Version: "v1", Resource: "namespaces"}
	PodsResource       = GroupVersionResource{Version: "v1", Resource: "pods"}
	LeasesResource     = GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	ConfigMapsResource = GroupVersionResource{Version: "v1", Resource: "configmaps"}
)
