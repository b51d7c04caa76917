package resources

import (
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

// preparePod sets the status of a new pod, and does what the admission plugins Priority and
// DefaultTolerationSeconds do.
func preparePod(o *api.Unstructured) {
	spec, status := ensure(o.Object, "spec"), ensure(o.Object, "status")
	status["qosClass"] = qosClass(spec)
	fill(spec, "priority", int64(0))
	fillText(spec, "preemptionPolicy", "PreemptLowerPriority")
	tolerate(spec, "node.kubernetes.io/not-ready")
	tolerate(spec, "node.kubernetes.io/unreachable")
}

// preparePodUpdate keeps what was set at creation, so that the original manifest can be applied
// again.
func preparePodUpdate(o, old *api.Unstructured) {
	spec := ensure(o.Object, "spec")
	for _, key := range []string{"priority", "preemptionPolicy"} {
		if !has(spec, key) {
			keep(o, old, "spec", key)
		}
	}
	tolerate(spec, "node.kubernetes.io/not-ready")
	tolerate(spec, "node.kubernetes.io/unreachable")
}

// tolerate adds a toleration of five minutes for a taint, unless the pod has one.
func tolerate(spec tree, taint string) {
	for _, toleration := range items(spec, "tolerations") {
		effect := text(toleration, "effect")
		if key := text(toleration, "key"); (key == taint || key == "") && (effect == "NoExecute" || effect == "") {
			return
		}
	}
	extend(spec, "tolerations", tree{
		"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(300),
	})
}

// qosClass returns the quality of service class. Quantities are equal if they are written alike.
func qosClass(spec tree) string {
	guaranteed, promised := true, false
	for _, container := range allContainers(spec) {
		resources := child(container, "resources")
		limits, requests := child(resources, "limits"), child(resources, "requests")
		for _, name := range []string{"cpu", "memory"} {
			guaranteed = guaranteed && has(limits, name) && same(limits[name], requests[name])
			promised = promised || has(limits, name) || has(requests, name)
		}
	}
	switch {
	case !promised:
		return "BestEffort"
	case guaranteed:
		return "Guaranteed"
	}
	return "Burstable"
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
