package resources

import (
	"slices"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

const nameLabel = "kubernetes.io/metadata.name"

// namespaces are scopes for names. What their phases and finalizers mean is told in package registry.
func namespaces() *Definition {
	return &Definition{
		Plural: "namespaces",
		Columns: []Column{
			nameColumn(),
			{Name: "Status", Type: "string", Description: "Active, or Terminating while it is being deleted.", Cell: field("status", "phase")},
			ageColumn(),
		},
		Selectable: []string{"status.phase"},
		Fields: func(o *api.Unstructured) map[string]string {
			return map[string]string{"status.phase": o.NestedString("status", "phase")}
		},
		Strategy: Strategy{
			Default:                  defaultNamespace,
			PrepareCreate:            prepareNamespace,
			PrepareUpdate:            func(o, old *api.Unstructured) { keep(o, old, "spec", "finalizers"); keepStatus(o, old) },
			PrepareStatus:            func(o, old *api.Unstructured) { keep(o, old, "spec") },
			PrepareFinalize:          keepStatus,
			Validate:                 validateNamespace,
			ValidateStatusUpdate:     validateNamespaceStatus,
			ValidateFinalizeUpdate:   validateNamespaceFinalize,
			ValidateName:             labelName,
			AllowUnconditionalUpdate: true,
		},
	}
}

func defaultNamespace(o *api.Unstructured) {
	labelNamespace(o)
	made(o.Object, "spec")
	fillText(made(o.Object, "status"), "phase", string(api.NamespaceActive))
	conditionTimes(child(o.Object, "status"), "lastTransitionTime")
}

// labelNamespace lets selectors pick a namespace by name.
func labelNamespace(o *api.Unstructured) {
	if name := o.GetName(); name != "" {
		made(made(o.Object, "metadata"), "labels")[nameLabel] = name
	}
}

// prepareNamespace gives a new namespace the token of the namespace controller, which is taken away when the
// namespace's content is gone.
func prepareNamespace(o *api.Unstructured) {
	labelNamespace(o)
	o.Object["status"] = tree{"phase": string(api.NamespaceActive)}
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
		if !isNamespaceFinalizer(finalizer) {
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
		if !isNamespaceFinalizer(finalizer) {
			m.invalid(path, finalizer, unknownFinalizer)
		}
	}
	return m
}

func isNamespaceFinalizer(finalizer string) bool { return isKnownFinalizer(finalizer) }

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
