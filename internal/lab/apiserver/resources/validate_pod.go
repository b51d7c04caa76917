package resources

import (
	"orrery/restclient/api"
)

const podImmutable = "pod updates may not change fields other than " +
	"`spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate allows changes of the fields that podImmutable names and of scheduling gates.
func validatePodUpdate(o, old *api.Unstructured) []FieldError {
	var m Errors
	next, before := fixedFields(o), fixedFields(old)
	for _, key := range []string{"containers", "initContainers"} {
		if len(items(next, key)) != len(items(before, key)) {
			m.Forbidden("spec."+key, "pod updates may not add or remove containers")
			return m
		}
	}
	for _, spec := range []tree{next, before} {
		for key := range spec {
			if !same(next[key], before[key]) {
				m.Forbidden("spec", podImmutable)
				return m
			}
		}
	}
	return m
}

// fixedFields returns the fields of a pod's spec that cannot change.
func fixedFields(o *api.Unstructured) tree {
	spec := child(o.DeepCopy().Object, "spec")
	for _, key := range []string{
		"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates",
	} {
		delete(spec, key)
	}
	for _, container := range allContainers(spec) {
		delete(container, "image")
	}
	return spec
}

func validatePod(o *api.Unstructured) []FieldError {
	var m Errors
	m.podSpec(child(o.Object, "spec"), "spec")
	return m
}

// podSpec validates the names and images of the containers of a pod or pod template.
func (m *Errors) podSpec(spec tree, path string) {
	if len(items(spec, "containers")) == 0 {
		m.required(path+".containers", "")
	}
	seen := map[string]bool{}
	for _, key := range []string{"containers", "initContainers"} {
		for i, container := range items(spec, key) {
			path, name := indexed(path+"."+key, i), text(container, "name")
			switch {
			case name == "":
				m.required(path+".name", "")
			case seen[name]:
				m.Add(FieldDuplicate, path+".name", name, "")
			default:
				m.names(path+".name", name, dnsLabel(name))
			}
			seen[name] = true
			if text(container, "image") == "" {
				m.required(path+".image", "")
			}
		}
	}
}
