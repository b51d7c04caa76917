package resources

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// taintNode taints a new node until it reports that it is ready.
func taintNode(o *api.Unstructured) {
	const taint = "node.kubernetes.io/not-ready"
	spec := ensure(o.Object, "spec")
	for _, t := range items(spec, "taints") {
		if text(t, "key") == taint {
			return
		}
	}
	list, _ := spec["taints"].([]any)
	spec["taints"] = append(slices.Clone(list), any(tree{"key": taint, "effect": "NoSchedule"}))
}

func nodeStatus(o *api.Unstructured, _ time.Time) any {
	status := "Unknown"
	switch condition(child(o.Object, "status"), "Ready", "status") {
	case "True":
		status = "Ready"
	case "False", "Unknown":
		status = "NotReady"
	}
	if o.NestedBool("spec", "unschedulable") {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(o *api.Unstructured, _ time.Time) any {
	var roles []string
	for label, value := range o.GetLabels() {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		} else if label == "kubernetes.io/role" && value != "" {
			roles = append(roles, value)
		}
	}
	slices.Sort(roles)
	return cmp.Or(strings.Join(slices.Compact(roles), ","), noneText)
}
