package resources

import (
	"orrery/internal/lab/apiserver/names"
	"orrery/internal/lab/apiserver/selector"
)

// labelSelector says what is wrong with a selector that stands in an object, and returns it.
func (m *mistakes) labelSelector(t tree, path string) (selector.Labels, bool) {
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

func (m *mistakes) expression(e tree, path string) {
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

// podsOf is the selector of a type that makes pods: it must be there, select something particular, and the pods that
// are made from the template must be among it.
func (m *mistakes) podsOf(spec tree, kind string) (matches bool) {
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

// template says what is wrong with the pods that will be made.
func (m *mistakes) template(spec tree, matches bool) {
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

// templateDefaults fills in the pod template of a spec.
func templateDefaults(spec tree) { podSpecDefaults(made(made(spec, "template"), "spec")) }
