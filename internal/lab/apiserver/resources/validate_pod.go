package resources

import (
	"reflect"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

func validatePodStatus(o, old *api.Unstructured) []apierrors.FieldError {
	var m errorList
	nominated := o.NestedString("status", "nominatedNodeName")
	if o.NestedString("spec", "nodeName") != "" && nominated != "" && nominated != old.NestedString("status", "nominatedNodeName") {
		m.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")
	}
	return m
}

const podImmutable = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate allows changes of images, the deadline, added tolerations and, while the pod is
// gated, its scheduling gates. It omits the comparison that kube-apiserver appends to the message.
func validatePodUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec, before := child(o.Object, "spec"), child(old.Object, "spec")
	for _, kind := range []string{"containers", "initContainers"} {
		if len(items(spec, kind)) != len(items(before, kind)) {
			m.forbidden("spec."+kind, "pod updates may not add or remove containers")
			return m
		}
		for i, container := range items(spec, kind) {
			m.image(container, at("spec."+kind, i)+".image")
		}
	}
	m.deadline(spec, before)
	patched, _ := cloneValue(spec).(tree)
	for _, kind := range []string{"containers", "initContainers"} {
		olds := items(before, kind)
		for i, container := range items(patched, kind) {
			if container != nil {
				container["image"] = olds[i]["image"]
			}
		}
	}
	patched["activeDeadlineSeconds"] = before["activeDeadlineSeconds"]
	if isAddition(patched, before, "tolerations") {
		patched["tolerations"] = before["tolerations"]
	}
	if isAddition(before, patched, "schedulingGates") {
		patched["schedulingGates"] = before["schedulingGates"]
	}
	if seconds, ok := before["terminationGracePeriodSeconds"].(int64); ok && seconds < 0 && integer(patched, "terminationGracePeriodSeconds") == 1 {
		patched["terminationGracePeriodSeconds"] = seconds
	}
	if !sameFields(patched, before) {
		m.forbidden("spec", podImmutable)
	}
	return m
}

// deadline checks that activeDeadlineSeconds is only set or reduced.
func (m *errorList) deadline(spec, before tree) {
	const path = "spec.activeDeadlineSeconds"
	if !has(spec, "activeDeadlineSeconds") {
		if has(before, "activeDeadlineSeconds") {
			m.invalid(path, nil, "must not update from a positive integer to nil value")
		}
		return
	}
	n := integer(spec, "activeDeadlineSeconds")
	if has(before, "activeDeadlineSeconds") && n > integer(before, "activeDeadlineSeconds") {
		m.invalid(path, n, "must be less than or equal to previous value")
	}
}

// isAddition reports whether all old items are among the new ones.
func isAddition(o, old tree, key string) bool {
	for _, item := range items(old, key) {
		if !slices.ContainsFunc(items(o, key), func(other tree) bool { return reflect.DeepEqual(item, other) }) {
			return false
		}
	}
	return true
}

// sameFields compares two objects field by field with [same].
func sameFields(a, b tree) bool {
	for key := range a {
		if !same(a[key], b[key]) {
			return false
		}
	}
	for key := range b {
		if !has(a, key) && !isNothing(b[key]) {
			return false
		}
	}
	return true
}

func validatePod(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	m.podSpec(child(o.Object, "spec"), "spec")
	return m
}

// podSpec validates the containers of a pod or pod template.
func (m *errorList) podSpec(spec tree, path string) {
	seen := map[string]bool{}
	containers := items(spec, "containers")
	if len(containers) == 0 {
		m.required(path+".containers", "")
	}
	for i, container := range containers {
		m.container(container, at(path+".containers", i), seen)
	}
	for i, container := range items(spec, "initContainers") {
		m.container(container, at(path+".initContainers", i), seen)
	}
	m.oneOf(spec, "restartPolicy", path+".restartPolicy", true, "Always", "OnFailure", "Never")
}

func (m *errorList) container(c tree, path string, seen map[string]bool) {
	name := text(c, "name")
	switch {
	case name == "":
		m.required(path+".name", "")
	case len(names.Label(name)) > 0:
		m.names(path+".name", name, names.Label(name))
	case seen[name]:
		m.duplicate(path+".name", name)
	}
	seen[name] = true
	m.image(c, path+".image")
}

func (m *errorList) image(c tree, path string) {
	switch image := text(c, "image"); {
	case image == "":
		m.required(path, "")
	case strings.TrimSpace(image) != image:
		m.invalid(path, image, "must not have leading or trailing whitespace")
	}
}
