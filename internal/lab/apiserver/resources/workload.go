package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/internal/lab/apiserver/selector"
	"orrery/restclient/api"
)

// labelSelector validates and returns a label selector.
func (m *errorList) labelSelector(t tree, path string) (selector.Labels, bool) {
	before := len(*m)
	labels := child(t, "matchLabels")
	for _, key := range sortedKeys(labels) {
		m.names(path+".matchLabels", key, names.Qualified(key))
		m.names(path+".matchLabels", text(labels, key), names.LabelValue(text(labels, key)))
	}
	for i, expression := range items(t, "matchExpressions") {
		m.expression(expression, at(path+".matchExpressions", i))
	}
	parsed, err := selector.ParseLabelSelector(t)
	return parsed, err == nil && len(*m) == before
}

func (m *errorList) expression(e tree, path string) {
	values := texts(e, "values")
	switch operator := text(e, "operator"); operator {
	case "In", "NotIn":
		if len(values) == 0 {
			m.required(path+".values", "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			m.forbidden(path+".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	default:
		m.invalid(path+".operator", operator, "not a valid selector operator")
	}
	m.names(path+".key", text(e, "key"), names.Qualified(text(e, "key")))
	for i, value := range values {
		m.names(at(path+".values", i), value, names.LabelValue(value))
	}
}

// podSelector validates the selector of a workload: it is required, must not be empty, and must
// match the pod template.
func (m *errorList) podSelector(spec tree, kind string) (matches bool) {
	t := child(spec, "selector")
	if t == nil {
		m.required("spec.selector", "")
		return false
	}
	parsed, ok := m.labelSelector(t, "spec.selector")
	if len(child(t, "matchLabels"))+len(items(t, "matchExpressions")) == 0 {
		m.invalid("spec.selector", t, "empty selector is invalid for "+kind)
	}
	if !ok {
		m.invalid("spec.selector", t, "invalid label selector")
		return true
	}
	labels := map[string]string{}
	template := child(child(child(spec, "template"), "metadata"), "labels")
	for key := range template {
		labels[key] = text(template, key)
	}
	return parsed.Empty() || parsed.Matches(labels)
}

// template validates the pod template.
func (m *errorList) template(spec tree, matches bool) {
	template := child(spec, "template")
	metadata := child(template, "metadata")
	if !matches {
		var labels any
		if l := child(metadata, "labels"); len(l) > 0 {
			labels = l
		}
		m.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
	}
	m.labels(child(metadata, "labels"), "spec.template.labels")
	pod := child(template, "spec")
	m.podSpec(pod, "spec.template.spec")
	if policy := text(pod, "restartPolicy"); policy == "OnFailure" || policy == "Never" {
		m.unsupported("spec.template.spec.restartPolicy", policy, "Always")
	}
}

// prepareDeploymentUpdate also counts changes of annotations, because a rollout records its cause
// in one.
func prepareDeploymentUpdate(o, old *api.Unstructured) {
	keepStatus(o, old)
	annotated := !same(o.Nested("metadata", "annotations"), old.Nested("metadata", "annotations"))
	nextGeneration(o, old, annotated || specChanged(o, old))
}

func validateDeployment(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	m.notNegative(spec, "replicas", "spec.replicas")
	m.template(spec, m.podSelector(spec, "deployment"))
	m.notNegative(spec, "minReadySeconds", "spec.minReadySeconds")
	m.notNegative(spec, "revisionHistoryLimit", "spec.revisionHistoryLimit")
	return m
}

func validateDeploymentUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := errorList(validateDeployment(o))
	m.immutable("spec.selector", o.Nested("spec", "selector"), old.Nested("spec", "selector"))
	return m
}

func validateReplicaSet(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	m.notNegative(spec, "replicas", "spec.replicas")
	m.notNegative(spec, "minReadySeconds", "spec.minReadySeconds")
	m.template(spec, m.podSelector(spec, "replicaset"))
	return m
}

func validateReplicaSetUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := errorList(validateReplicaSet(o))
	m.immutable("spec.selector", o.Nested("spec", "selector"), old.Nested("spec", "selector"))
	return m
}
