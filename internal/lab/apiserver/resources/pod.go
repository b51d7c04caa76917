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
