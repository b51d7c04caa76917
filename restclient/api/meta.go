package api

import (
	"maps"
	"slices"
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
	SelfLink                   string            `json:"selfLink,omitempty"`
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

func (m *ObjectMeta) GetName() string                      { return m.Name }
func (m *ObjectMeta) GetNamespace() string                 { return m.Namespace }
func (m *ObjectMeta) GetUID() string                       { return m.UID }
func (m *ObjectMeta) GetResourceVersion() string           { return m.ResourceVersion }
func (m *ObjectMeta) GetLabels() map[string]string         { return m.Labels }
func (m *ObjectMeta) GetOwnerReferences() []OwnerReference { return m.OwnerReferences }
func (m *ObjectMeta) GetAnnotations() map[string]string    { return m.Annotations }
func (m *ObjectMeta) GetFinalizers() []string              { return m.Finalizers }
func (m *ObjectMeta) GetDeletionTimestamp() *Time          { return m.DeletionTimestamp }

// ListMeta is the metadata of a list.
type ListMeta struct {
	// ResourceVersion is the version of the listed collection; a watch may start from it.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Continue asks for the next page; empty on the last one.
	Continue string `json:"continue,omitempty"`
	// RemainingItemCount is the number of items on later pages, if the server knows it.
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
}

// List is the answer to a list request: items of one type at one resource version.
type List[T any] struct {
	TypeMeta `json:",inline"`
	ListMeta `json:"metadata"`
	Items    []T `json:"items"`
}

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
