package resources

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/restclient/api"
)

var podSelectable = []string{
	"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
	"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName",
}

func podFields(o tree, fields map[string]string) {
	var addresses []string
	for _, address := range items(child(o, "status"), "podIPs") {
		addresses = append(addresses, text(address, "ip"))
	}
	fields["status.podIPs"] = strings.Join(addresses, ",")
	fields["spec.hostNetwork"] = strconv.FormatBool(truth(child(o, "spec"), "hostNetwork"))
}

// fillPod fills in what a pod has beyond a template of one.
func fillPod(o tree) {
	spec := made(o, "spec")
	fillPodSpec(spec)
	for _, container := range allContainers(spec) {
		requestDefaults(child(container, "resources"))
		for _, port := range items(container, "ports") {
			if truth(spec, "hostNetwork") && whole(port, "hostPort") == 0 && has(port, "containerPort") {
				port["hostPort"] = port["containerPort"]
			}
		}
	}
	status := child(o, "status")
	firstOf(status, "podIP", "podIPs")
	firstOf(status, "hostIP", "hostIPs")
}

// fillPodSpec fills in what depends on other fields in a pod or a template of pods.
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
		if len(volume) == 1 && has(volume, "name") { // a volume of which nothing is said is an empty directory
			volume["emptyDir"] = tree{}
		}
	}
}

func allContainers(spec tree) []tree {
	return append(items(spec, "initContainers"), items(spec, "containers")...)
}

// pullPolicy is Always for images that may change under their name: those of the tag latest.
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

// requestDefaults requests as much of a resource as is the limit, where nothing else is said.
func requestDefaults(resources tree) {
	limits := child(resources, "limits")
	if len(limits) == 0 {
		return
	}
	requests := made(resources, "requests")
	for name, limit := range limits {
		fill(requests, name, limit)
	}
}

// firstOf keeps an address and a list of addresses together: the one is the first of the others.
func firstOf(status tree, one, several string) {
	address, list := text(status, one), items(status, several)
	switch {
	case address == "" && len(list) > 0:
		status[one] = text(list[0], "ip")
	case address != "" && (len(list) == 0 || text(list[0], "ip") != address):
		status[several] = []any{tree{"ip": address}}
	}
}

// podPending is the status of a new pod.
func podPending(o tree) tree {
	spec := child(o, "spec")
	status := tree{"phase": "Pending", "qosClass": qosClass(spec)}
	if len(items(spec, "schedulingGates")) > 0 {
		status["conditions"] = []any{tree{
			"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
			"message":       "Scheduling is blocked due to non-empty scheduling gates",
			"lastProbeTime": nil, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}}
	}
	return status
}

// preparePod fills in what kube-apiserver's admission plugins for priorities and tolerations do.
func preparePod(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	fill(spec, "priority", int64(0))
	fillText(spec, "preemptionPolicy", "PreemptLowerPriority")
	tolerate(spec, "node.kubernetes.io/not-ready")
	tolerate(spec, "node.kubernetes.io/unreachable")
}

// preparePodUpdate lets a manifest that says nothing of what was filled in at creation be written a second time.
func preparePodUpdate(o, old *api.Unstructured) {
	spec := made(o.Object, "spec")
	for _, key := range []string{"priority", "preemptionPolicy"} {
		if !has(spec, key) {
			keep(o, old, "spec", key)
		}
	}
	tolerate(spec, "node.kubernetes.io/not-ready")
	tolerate(spec, "node.kubernetes.io/unreachable")
}

// tolerate lets a pod stay for five minutes on a node that has the taint, unless the pod says something about it.
func tolerate(spec tree, taint string) {
	for _, toleration := range items(spec, "tolerations") {
		effect := text(toleration, "effect")
		if key := text(toleration, "key"); (key == taint || key == "") && (effect == "NoExecute" || effect == "") {
			return
		}
	}
	list, _ := spec["tolerations"].([]any)
	spec["tolerations"] = append(slices.Clone(list), any(tree{
		"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(300),
	}))
}

// qosClass says how much of what a pod needs it has been promised: everything, something, or nothing.
func qosClass(spec tree) string {
	guaranteed, promised := true, false
	for _, container := range allContainers(spec) {
		resources := child(container, "resources")
		limits, requests := child(resources, "limits"), child(resources, "requests")
		for _, name := range []string{"cpu", "memory"} {
			order, comparable := compareQuantities(limits[name], requests[name])
			guaranteed = guaranteed && comparable && order == 0
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

// podGrace is the time that the pod asks for, unless the request asks for another. A pod that no kubelet looks after ends
// at once: before it has a node, and after all its containers have ended.
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
