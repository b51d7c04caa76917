package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// replicaSets keep a number of equal pods running.
func replicaSets() *Definition {
	return &Definition{
		Group:  "apps",
		Plural: "replicasets",
		scale:  &scalePaths{replicas: []string{"spec", "replicas"}, status: []string{"status", "replicas"}, selector: []string{"spec", "selector"}},
		Columns: []Column{
			nameColumn(),
			{Name: "Desired", Type: "integer", Description: "How many pods are wanted.", Cell: number64("spec", "replicas")},
			{Name: "Current", Type: "integer", Description: "How many pods there are.", Cell: number64("status", "replicas")},
			{Name: "Ready", Type: "integer", Description: "How many pods are ready.", Cell: number64("status", "readyReplicas")},
			ageColumn(),
			{Name: "Containers", Type: "string", Priority: 1, Description: "The containers of the template.", Cell: joined(templateContainers, "name")},
			{Name: "Images", Type: "string", Priority: 1, Description: "The images of the template.", Cell: joined(templateContainers, "image")},
			{Name: "Selector", Type: "string", Priority: 1, Description: "The labels by which the pods are found.", Cell: labelSelectorCell("spec", "selector")},
		},
		Strategy: Strategy{
			Default:                  defaultReplicaSet,
			PrepareCreate:            func(o *api.Unstructured) { o.Object["status"] = tree{"replicas": int64(0)}; firstGeneration(o) },
			PrepareUpdate:            specGeneration,
			PrepareStatus:            keepAllButStatus,
			Validate:                 validateReplicaSet,
			ValidateUpdate:           validateReplicaSetUpdate,
			AllowUnconditionalUpdate: true,
		},
	}
}

func defaultReplicaSet(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	templateDefaults(spec)
	conditionTimes(child(o.Object, "status"), "lastTransitionTime")
	fill(spec, "replicas", int64(1))
}

func validateReplicaSet(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	spec := child(o.Object, "spec")
	m.notNegative(spec, "replicas", "spec.replicas")
	m.notNegative(spec, "minReadySeconds", "spec.minReadySeconds")
	m.template(spec, m.podsOf(spec, "replicaset"))
	return m
}

func validateReplicaSetUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := mistakes(validateReplicaSet(o))
	m.immutable("spec.selector", o.Nested("spec", "selector"), old.Nested("spec", "selector"))
	return m
}
