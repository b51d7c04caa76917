package resources

import (
	"slices"
	"strings"

	"orrery/restclient/api"
)

// fillPod sets the defaults that a pod has in addition to a pod template.
func fillPod(o tree) {
	spec := ensure(o, "spec")
	for _, container := range allContainers(spec) {
		resources := child(container, "resources")
		fillMap(resources, "requests", child(resources, "limits"))
		for _, port := range items(container, "ports") {
			if boolean(spec, "hostNetwork") && has(port, "containerPort") {
				fill(port, "hostPort", port["containerPort"])
			}
		}
	}
}

// fillPodSpec sets the defaults of a pod or pod template that depend on other fields.
func fillPodSpec(spec tree) {
	if account := text(spec, "serviceAccountName"); account != "" {
		spec["serviceAccount"] = account
	} else if account := text(spec, "serviceAccount"); account != "" {
		spec["serviceAccountName"] = account
	}
	for _, container := range allContainers(spec) {
		if container != nil {
			fillText(container, "imagePullPolicy", pullPolicy(text(container, "image")))
		}
	}
	for _, volume := range items(spec, "volumes") {
		if len(volume) == 1 && has(volume, "name") { // a volume without a source is an emptyDir
			volume["emptyDir"] = tree{}
		}
	}
}

func allContainers(spec tree) []tree {
	return append(items(spec, "initContainers"), items(spec, "containers")...)
}

// pullPolicy is Always for the tag latest, which may change.
func pullPolicy(image string) string {
	if strings.Contains(image, "@") {
		return "IfNotPresent"
	}
	name := image[strings.LastIndexByte(image, '/')+1:]
	if _, tag, tagged := strings.Cut(name, ":"); tagged && tag != "latest" {
		return "IfNotPresent"
	}
	return "Always"
}

// podGrace returns the grace period of the request or of the pod. It is 0 if no kubelet has to stop
// anything: before the pod has a node, and after it has finished.
func podGrace(o *api.Unstructured, asked *int64) int64 {
	grace := int64(30)
	if seconds, ok := o.Nested("spec", "terminationGracePeriodSeconds").(int64); ok {
		grace = seconds
	}
	if asked != nil {
		grace = *asked
	}
	if asked == nil || *asked != 0 {
		grace = max(grace, 1)
	}
	phase := o.NestedString("status", "phase")
	if o.NestedString("spec", "nodeName") == "" || phase == "Failed" || phase == "Succeeded" {
		return 0
	}
	return grace
}

// protectClaim adds the finalizer that keeps a claim while a pod uses it.
func protectClaim(o *api.Unstructured) {
	metadata := ensure(o.Object, "metadata")
	if !slices.Contains(texts(metadata, "finalizers"), FinalizerClaimProtection) {
		extend(metadata, "finalizers", FinalizerClaimProtection)
	}
}

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
