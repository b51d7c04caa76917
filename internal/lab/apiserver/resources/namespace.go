package resources

import (
	"slices"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

const nameLabel = "kubernetes.io/metadata.name"

// finalizeNamespace makes a write to the subresource finalize change the finalizers and nothing else. What phases and
// finalizers mean is told in package registry.
func finalizeNamespace(d *Definition) {
	d.Strategy.PrepareFinalize = keepStatus
	d.Strategy.ValidateStatusUpdate, d.Strategy.ValidateFinalizeUpdate = validateNamespaceStatus, validateNamespaceFinalize
}

// labelNamespace lets selectors pick a namespace by name.
func labelNamespace(o tree) {
	if name := text(child(o, "metadata"), "name"); name != "" {
		made(made(o, "metadata"), "labels")[nameLabel] = name
	}
}

// prepareNamespace gives a new namespace the token of the namespace controller, which is taken away when the
// namespace's content is gone.
func prepareNamespace(o *api.Unstructured) {
	labelNamespace(o.Object)
	spec := made(o.Object, "spec")
	finalizers := texts(spec, "finalizers")
	if !slices.Contains(finalizers, api.FinalizerKubernetes) {
		list, _ := spec["finalizers"].([]any)
		spec["finalizers"] = append(slices.Clone(list), any(api.FinalizerKubernetes))
	}
}

func validateNamespace(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	for _, finalizer := range o.NestedStringSlice("spec", "finalizers") {
		m.names("spec.finalizers", finalizer, names.Qualified(finalizer))
		if !isKnownFinalizer(finalizer) {
			m.invalid("spec.finalizers", finalizer, unknownFinalizer)
		}
	}
	return m
}

func validateNamespaceFinalize(o, old *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	for i, finalizer := range o.NestedStringSlice("spec", "finalizers") {
		path := at("spec.finalizers", i)
		m.names(path, finalizer, names.Qualified(finalizer))
		if !isKnownFinalizer(finalizer) {
			m.invalid(path, finalizer, unknownFinalizer)
		}
	}
	return m
}

// validateNamespaceStatus wants the phase to say what the deletion timestamp says.
func validateNamespaceStatus(o, old *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	phase := o.NestedString("status", "phase")
	if o.NestedString("metadata", "deletionTimestamp") == "" {
		if phase != string(api.NamespaceActive) {
			m.invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")
		}
	} else if phase != string(api.NamespaceTerminating) {
		m.invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
	}
	return m
}
