package resources

import (
	"reflect"
	"slices"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// pods are the programs that run.
func pods() *Definition {
	return &Definition{
		Plural:  "pods",
		Columns: podColumns(),
		Selectable: []string{
			"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
			"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName",
		},
		Fields: podFields,
		Strategy: Strategy{
			Parts: map[string]func(o, old *api.Unstructured){
				"ephemeralcontainers": keepAllBut("spec", "ephemeralContainers"), "resize": keepAllButResources,
			},
			Default:                  defaultPod,
			PrepareCreate:            preparePod,
			PrepareUpdate:            preparePodUpdate,
			PrepareStatus:            statusKeepsMetadata("ownerReferences"),
			Validate:                 validatePod,
			ValidateUpdate:           validatePodUpdate,
			ValidateStatusUpdate:     validatePodStatus,
			GraceSeconds:             podGrace,
			AllowUnconditionalUpdate: true,
		},
	}
}

func podFields(o *api.Unstructured) map[string]string {
	spec, status := child(o.Object, "spec"), child(o.Object, "status")
	addresses := ""
	for i, address := range items(status, "podIPs") {
		if i > 0 {
			addresses += ","
		}
		addresses += text(address, "ip")
	}
	hostNetwork := "false"
	if truth(spec, "hostNetwork") {
		hostNetwork = "true"
	}
	return map[string]string{
		"spec.nodeName":            text(spec, "nodeName"),
		"spec.restartPolicy":       text(spec, "restartPolicy"),
		"spec.schedulerName":       text(spec, "schedulerName"),
		"spec.serviceAccountName":  text(spec, "serviceAccountName"),
		"spec.hostNetwork":         hostNetwork,
		"status.phase":             text(status, "phase"),
		"status.podIP":             text(status, "podIP"),
		"status.podIPs":            addresses,
		"status.nominatedNodeName": text(status, "nominatedNodeName"),
	}
}

func defaultPod(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	podDefaults(spec)
	podStatusDefaults(child(o.Object, "status"))
}

// preparePod fills in what kube-apiserver's admission plugins for priorities and tolerations do, and the first status.
func preparePod(o *api.Unstructured) {
	firstGeneration(o)
	spec := made(o.Object, "spec")
	fill(spec, "priority", int64(0))
	fillText(spec, "preemptionPolicy", "PreemptLowerPriority")
	tolerate(spec, "node.kubernetes.io/not-ready")
	tolerate(spec, "node.kubernetes.io/unreachable")
	status := tree{"phase": "Pending", "qosClass": qosClass(spec)}
	if len(items(spec, "schedulingGates")) > 0 {
		status["conditions"] = []any{tree{
			"type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
			"message":       "Scheduling is blocked due to non-empty scheduling gates",
			"lastProbeTime": nil, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}}
	}
	o.Object["status"] = status
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
	specGeneration(o, old)
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
	phase := o.NestedString("status", "phase")
	if o.NestedString("spec", "nodeName") == "" || phase == "Failed" || phase == "Succeeded" {
		return 0
	}
	return max(grace, 1*btoi(asked == nil || *asked != 0))
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func validatePod(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	m.podSpec(child(o.Object, "spec"), "spec")
	return m
}

func validatePodStatus(o, old *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	nominated := o.NestedString("status", "nominatedNodeName")
	if o.NestedString("spec", "nodeName") != "" && nominated != "" && nominated != old.NestedString("status", "nominatedNodeName") {
		m.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")
	}
	return m
}

const podImmutable = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate lets only images, the deadline, more tolerations, and while the pod waits its gates change. Upstream
// adds to the sentence a comparison of the two specs as Go prints them, which is left out here.
func validatePodUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	var m mistakes
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
	if seconds, ok := before["terminationGracePeriodSeconds"].(int64); ok && seconds < 0 && whole(patched, "terminationGracePeriodSeconds") == 1 {
		patched["terminationGracePeriodSeconds"] = seconds
	}
	if !sameFields(patched, before) {
		m.forbidden("spec", podImmutable)
	}
	return m
}

// deadline may be set, and brought forward.
func (m *mistakes) deadline(spec, before tree) {
	const path = "spec.activeDeadlineSeconds"
	if !has(spec, "activeDeadlineSeconds") {
		if has(before, "activeDeadlineSeconds") {
			m.invalid(path, nil, "must not update from a positive integer to nil value")
		}
		return
	}
	n := whole(spec, "activeDeadlineSeconds")
	if has(before, "activeDeadlineSeconds") && n > whole(before, "activeDeadlineSeconds") {
		m.invalid(path, n, "must be less than or equal to previous value")
	}
}

// isAddition tells whether every item of the old list is in the new one.
func isAddition(o, old tree, key string) bool {
	for _, item := range items(old, key) {
		if !slices.ContainsFunc(items(o, key), func(other tree) bool { return reflect.DeepEqual(item, other) }) {
			return false
		}
	}
	return true
}

// sameFields compares two objects field by field, as [same] does.
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
