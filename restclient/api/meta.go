package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// TypeMeta names the kind of an object and the API version that its fields follow.
type TypeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// ObjectMeta is the metadata of every Kubernetes object.
//
// Fields that this project does not use are preserved, so that an object that is read, changed and
// written back does not lose them.
type ObjectMeta struct {
	Name                       string            `json:"name,omitempty"`
	GenerateName               string            `json:"generateName,omitempty"`
	Namespace                  string            `json:"namespace,omitempty"`
	UID                        string            `json:"uid,omitempty"`
	ResourceVersion            string            `json:"resourceVersion,omitempty"`
	Generation                 int64             `json:"generation,omitempty"`
	CreationTimestamp          Time              `json:"creationTimestamp,omitzero"`
	DeletionTimestamp          *Time             `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`
	Annotations                map[string]string `json:"annotations,omitempty"`
	OwnerReferences            []OwnerReference  `json:"ownerReferences,omitempty"`
	Finalizers                 []string          `json:"finalizers,omitempty"`
	// ManagedFields is preserved: a status update must not drop it.
	ManagedFields ManagedFields `json:"managedFields,omitzero"`
}

// OwnerReference names an owner of the object.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

// DeepCopy returns a copy that shares no mutable data.
func (m ObjectMeta) DeepCopy() ObjectMeta {
	m.DeletionTimestamp = clonePointer(m.DeletionTimestamp)
	m.DeletionGracePeriodSeconds = clonePointer(m.DeletionGracePeriodSeconds)
	m.Labels = maps.Clone(m.Labels)
	m.Annotations = maps.Clone(m.Annotations)
	m.Finalizers = slices.Clone(m.Finalizers)
	m.OwnerReferences = slices.Clone(m.OwnerReferences)
	for i, owner := range m.OwnerReferences {
		m.OwnerReferences[i].Controller = clonePointer(owner.Controller)
		m.OwnerReferences[i].BlockOwnerDeletion = clonePointer(owner.BlockOwnerDeletion)
	}
	return m
}

func clonePointer[V any](p *V) *V {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// The accessors of the metadata. Maps and slices are shared with the object. GetName is unique in
// the namespace, or in the cluster if GetNamespace is empty; a re-created object has the same name
// and another UID; a resource version is opaque and compared for equality only.
// GetDeletionTimestamp is nil unless the object was marked for deletion.

func (m *ObjectMeta) GetName() string                   { return m.Name }
func (m *ObjectMeta) GetNamespace() string              { return m.Namespace }
func (m *ObjectMeta) GetUID() string                    { return m.UID }
func (m *ObjectMeta) GetResourceVersion() string        { return m.ResourceVersion }
func (m *ObjectMeta) GetLabels() map[string]string      { return m.Labels }
func (m *ObjectMeta) GetAnnotations() map[string]string { return m.Annotations }
func (m *ObjectMeta) GetFinalizers() []string           { return m.Finalizers }
func (m *ObjectMeta) GetDeletionTimestamp() *Time       { return m.DeletionTimestamp }

// PartialObjectMetadata is the metadata of an object of any kind. The API server sends it on
// request by Accept header, which saves decoding (and keeping) the rest.
type PartialObjectMetadata struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
}

// DeepCopy returns a copy that shares no mutable data.
func (p *PartialObjectMetadata) DeepCopy() *PartialObjectMetadata {
	return &PartialObjectMetadata{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta.DeepCopy()}
}

// Time is a moment as Kubernetes writes it: RFC 3339 in UTC with whole seconds, `null` for the zero
// value. Fractions of a second are accepted when reading (MicroTime fields have them).
type Time struct{ time.Time }

// NewTime returns t as an API time.
func NewTime(t time.Time) Time { return Time{Time: t} }

func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(time.RFC3339) + `"`), nil
}

// UnmarshalJSON reads an RFC 3339 string; null and "" are the zero value.
func (t *Time) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) || bytes.Equal(data, []byte(`""`)) {
		t.Time = time.Time{}
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("time: want an RFC 3339 string, got %.40s", data)
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return err
	}
	t.Time = parsed
	return nil
}

// ManagedFields says which client manages which fields of an object (API documentation: server-side
// apply). An object that is read, changed and written back must not lose it, so its JSON text is
// preserved. It is immutable; the zero value is none.
type ManagedFields struct{ text string }

// NewManagedFields returns managed fields with a copy of the text, which must be a JSON value.
func NewManagedFields(text []byte) ManagedFields { return ManagedFields{text: string(text)} }

// IsZero reports whether there are none. encoding/json calls it for fields with "omitzero".
func (m ManagedFields) IsZero() bool { return m.text == "" }

// MarshalJSON returns the text; null if there are none.
func (m ManagedFields) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return []byte(m.text), nil
}

// UnmarshalJSON keeps a copy of the text; null is none.
func (m *ManagedFields) UnmarshalJSON(text []byte) error {
	*m = ManagedFields{}
	if string(text) != "null" {
		*m = NewManagedFields(text)
	}
	return nil
}

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

// TypeName returns kubectl's name of the type: "pods", "deployments.apps".
func (gvr GroupVersionResource) TypeName() string {
	if gvr.Group == "" {
		return gvr.Resource
	}
	return gvr.GroupResource()
}

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

// String returns the text.
func (m ManagedFields) String() string { return m.text }

// ManagedFieldsEntry is the entry of one client. Its fields are JSON: a set of paths (API
// documentation: FieldsV1).
type ManagedFieldsEntry struct {
	Manager     string          `json:"manager,omitempty"`
	Operation   string          `json:"operation,omitempty"`
	APIVersion  string          `json:"apiVersion,omitempty"`
	Time        *Time           `json:"time,omitempty"`
	FieldsV1    json.RawMessage `json:"fieldsV1,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}

// Entries decodes the text. It fails if the text is not what an API server writes.
func (m ManagedFields) Entries() ([]ManagedFieldsEntry, error) {
	var entries []ManagedFieldsEntry
	if m.IsZero() {
		return nil, nil
	}
	err := Unmarshal([]byte(m.text), &entries)
	return entries, err
}
