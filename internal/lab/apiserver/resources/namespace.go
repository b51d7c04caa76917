package resources

import (
	"slices"

	"orrery/restclient/api"
)

const nameLabel = "kubernetes.io/metadata.name"

// finalizeNamespace lets the subresource finalize change the finalizers only. Package registry
// explains phases and finalizers.
func finalizeNamespace(d *Definition) {
	d.Strategy.PrepareFinalize = keepStatus
	d.Strategy.ValidateStatusUpdate = validateNamespaceStatus
	d.Strategy.ValidateFinalizeUpdate = func(o, _ *api.Unstructured) []FieldError { return namespaceFinalizers(o, true) }
}

// labelNamespace sets the label by which selectors find a namespace by name.
func labelNamespace(o tree) {
	if name := text(child(o, "metadata"), "name"); name != "" {
		ensure(ensure(o, "metadata"), "labels")[nameLabel] = name
	}
}

// prepareNamespace adds the finalizer of the namespace controller, which the controller removes
// when the namespace is empty.
func prepareNamespace(o *api.Unstructured) {
	labelNamespace(o.Object)
	spec := ensure(o.Object, "spec")
	if !slices.Contains(texts(spec, "finalizers"), api.FinalizerKubernetes) {
		extend(spec, "finalizers", api.FinalizerKubernetes)
	}
}

// namespaceFinalizers validates spec.finalizers. Only the errors of the subresource name the index.
func namespaceFinalizers(o *api.Unstructured, numbered bool) []FieldError {
	var m Errors
	for i, finalizer := range o.NestedStringSlice("spec", "finalizers") {
		path := "spec.finalizers"
		if numbered {
			path = indexed(path, i)
		}
		m.names(path, finalizer, qualifiedName(finalizer))
		if !isKnownFinalizer(finalizer) {
			m.Invalid(path, finalizer, unknownFinalizer)
		}
	}
	return m
}

// validateNamespaceStatus checks that the phase agrees with the deletionTimestamp.
func validateNamespaceStatus(o, old *api.Unstructured) []FieldError {
	var m Errors
	phase := o.NestedString("status", "phase")
	if o.NestedString("metadata", "deletionTimestamp") == "" {
		if phase != string(api.NamespaceActive) {
			m.Invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")
		}
	} else if phase != string(api.NamespaceTerminating) {
		m.Invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
	}
	return m
}
