package resources

import (
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// nodes are the machines.
func nodes() *Definition {
	return &Definition{
		Plural: "nodes",
		Columns: []Column{
			nameColumn(),
			{Name: "Status", Type: "string", Description: "Whether the node is ready, and takes new pods.", Cell: nodeStatus},
			{Name: "Roles", Type: "string", Description: "The roles that its labels give it.", Cell: nodeRoles},
			ageColumn(),
			{Name: "Version", Type: "string", Description: "The version of its kubelet.", Cell: field("status", "nodeInfo", "kubeletVersion")},
			{Name: "Internal-IP", Type: "string", Priority: 1, Description: "Its address inside of the cluster.", Cell: nodeAddress("InternalIP")},
			{Name: "External-IP", Type: "string", Priority: 1, Description: "Its address outside of the cluster.", Cell: nodeAddress("ExternalIP")},
			{Name: "OS-Image", Type: "string", Priority: 1, Description: "Its operating system.", Cell: fieldOr(unknownText, "status", "nodeInfo", "osImage")},
			{Name: "Kernel-Version", Type: "string", Priority: 1, Description: "Its kernel.", Cell: nodeKernel},
			{Name: "Container-Runtime", Type: "string", Priority: 1, Description: "What runs its containers.", Cell: fieldOr(unknownText, "status", "nodeInfo", "containerRuntimeVersion")},
		},
		Selectable: []string{"spec.unschedulable"},
		Fields: func(o *api.Unstructured) map[string]string {
			unschedulable := "false"
			if o.NestedBool("spec", "unschedulable") {
				unschedulable = "true"
			}
			return map[string]string{"spec.unschedulable": unschedulable}
		},
		Strategy: Strategy{
			Default:                  defaultNode,
			PrepareCreate:            prepareNode,
			PrepareUpdate:            keepStatus,
			PrepareStatus:            func(o, old *api.Unstructured) { keep(o, old, "spec") },
			AllowUnconditionalUpdate: true,
		},
	}
}

// defaultNode writes the fields that are always there.
func defaultNode(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	switch cidr, cidrs := text(spec, "podCIDR"), texts(spec, "podCIDRs"); {
	case cidr != "" && len(cidrs) == 0:
		spec["podCIDRs"] = []any{cidr}
	case cidr == "" && len(cidrs) > 0:
		spec["podCIDR"] = cidrs[0]
	}
	status := made(o.Object, "status")
	conditionTimes(status, "lastHeartbeatTime", "lastTransitionTime")
	fill(made(made(status, "daemonEndpoints"), "kubeletEndpoint"), "Port", int64(0))
	info := made(status, "nodeInfo")
	for _, key := range []string{
		"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
		"machineID", "operatingSystem", "osImage", "systemUUID",
	} {
		fill(info, key, "")
	}
}

// prepareNode taints a new node until it reports that it is ready.
func prepareNode(o *api.Unstructured) {
	const taint = "node.kubernetes.io/not-ready"
	spec := made(o.Object, "spec")
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
	return or(strings.Join(slices.Compact(roles), ","), noneText)
}

func nodeAddress(kind string) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any {
		for _, address := range items(child(o.Object, "status"), "addresses") {
			if text(address, "type") == kind {
				return text(address, "address")
			}
		}
		return noneText
	}
}

func nodeKernel(o *api.Unstructured, _ time.Time) any {
	info, _ := o.Nested("status", "nodeInfo").(map[string]any)
	kernel := text(info, "kernelVersion")
	if kernel == "" {
		return unknownText
	}
	if architecture := text(info, "architecture"); architecture != "" {
		return kernel + " (" + architecture + ")"
	}
	return kernel
}
