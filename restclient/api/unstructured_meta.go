package api

import "time"

// GetKind returns the kind.
func (u *Unstructured) GetKind() string { return u.NestedString("kind") }

// GetAPIVersion returns group/version, or the version alone for the core group.
func (u *Unstructured) GetAPIVersion() string { return u.NestedString("apiVersion") }

// GetName returns metadata.name.
func (u *Unstructured) GetName() string { return u.NestedString("metadata", "name") }

// GetNamespace returns metadata.namespace.
func (u *Unstructured) GetNamespace() string { return u.NestedString("metadata", "namespace") }

// GetUID returns metadata.uid.
func (u *Unstructured) GetUID() string { return u.NestedString("metadata", "uid") }

// GetResourceVersion returns metadata.resourceVersion.
func (u *Unstructured) GetResourceVersion() string {
	return u.NestedString("metadata", "resourceVersion")
}

// GetLabels returns a copy of metadata.labels.
func (u *Unstructured) GetLabels() map[string]string { return u.NestedStringMap("metadata", "labels") }

// GetAnnotations returns a copy of metadata.annotations.
func (u *Unstructured) GetAnnotations() map[string]string {
	return u.NestedStringMap("metadata", "annotations")
}

// GetFinalizers returns a copy of metadata.finalizers.
func (u *Unstructured) GetFinalizers() []string {
	return u.NestedStringSlice("metadata", "finalizers")
}

// GetDeletionTimestamp returns the moment from which the object is being deleted, or nil while it is not.
func (u *Unstructured) GetDeletionTimestamp() *Time {
	moment, err := time.Parse(time.RFC3339, u.NestedString("metadata", "deletionTimestamp"))
	if err != nil {
		return nil
	}
	return &Time{Time: moment}
}
