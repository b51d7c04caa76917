package resources

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

func signingCondition(o *api.Unstructured, _ time.Time) any {
	state := "Pending"
	for _, kind := range []string{"Approved", "Denied"} {
		if condition(child(o.Object, "status"), kind, "type") != "" {
			state = kind
		}
	}
	if condition(child(o.Object, "status"), "Failed", "type") != "" {
		state += ",Failed"
	}
	if o.NestedString("status", "certificate") != "" {
		state += ",Issued"
	}
	return state
}

func classParameters(o *api.Unstructured, _ time.Time) any {
	t := child(child(o.Object, "spec"), "parameters")
	if t == nil {
		return noneText
	}
	kind := text(t, "kind")
	if group := text(t, "apiGroup"); group != "" {
		kind += "." + group
	}
	return kind + "/" + text(t, "name")
}

func ingressAddress(o *api.Unstructured, _ time.Time) any {
	return strings.Join(balancerAddresses(o), ",")
}

func ingressPorts(o *api.Unstructured, _ time.Time) any {
	if len(items(child(o.Object, "spec"), "tls")) > 0 {
		return "80, 443"
	}
	return "80"
}

func parentReference(o *api.Unstructured, _ time.Time) any {
	t := child(child(o.Object, "spec"), "parentRef")
	if t == nil {
		return noneText
	}
	parts := []string{strings.ToLower(strings.TrimSuffix(text(t, "resource")+"."+text(t, "group"), "."))}
	if namespace := text(t, "namespace"); namespace != "" {
		parts = append(parts, namespace)
	}
	return strings.Join(append(parts, text(t, "name")), "/")
}

func volumeStatus(o *api.Unstructured, _ time.Time) any {
	if o.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return o.NestedString("status", "phase")
}

func storageClassName(o *api.Unstructured, _ time.Time) any {
	for _, key := range []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"} {
		if o.GetAnnotations()[key] == "true" {
			return o.GetName() + " (default)"
		}
	}
	return o.GetName()
}

func slicePorts(o *api.Unstructured, _ time.Time) any {
	var ports []string
	for _, port := range items(o.Object, "ports") {
		number := "*"
		if has(port, "port") {
			number = decimal(integer(port, "port"))
		}
		ports = append(ports, number)
	}
	return cmp.Or(few(ports), unsetText)
}

func endpointsList(o *api.Unstructured, _ time.Time) any {
	var all []string
	for _, subset := range items(o.Object, "subsets") {
		for _, address := range items(subset, "addresses") {
			if len(items(subset, "ports")) == 0 {
				all = append(all, text(address, "ip"))
			}
			for _, port := range items(subset, "ports") {
				all = append(all, text(address, "ip")+":"+decimal(integer(port, "port")))
			}
		}
	}
	return cmp.Or(few(all), noneText)
}

func deviceClaimState(o *api.Unstructured, _ time.Time) any {
	var states []string
	if o.GetDeletionTimestamp() != nil {
		states = append(states, "deleted")
	}
	if o.Nested("status", "allocation") == nil {
		if o.GetDeletionTimestamp() == nil {
			states = append(states, "pending")
		}
	} else {
		states = append(states, "allocated")
		if len(items(child(o.Object, "status"), "reservedFor")) > 0 {
			states = append(states, "reserved")
		}
	}
	return strings.Join(states, ",")
}

// Webhooks and policies are only stored; faults play their refusals.

func bindingParamRef(o *api.Unstructured, _ time.Time) any {
	ref, _ := o.Nested("spec", "paramRef").(map[string]any)
	if ref == nil {
		return unsetText
	}
	if namespace := text(ref, "namespace"); namespace != "" {
		return fmt.Sprintf("%s/%s", namespace, text(ref, "name"))
	}
	return cmp.Or(text(ref, "name"), "*/*")
}

const rbacGroup = "rbac.authorization.k8s.io"

func fillBinding(o tree) {
	for _, subject := range items(o, "subjects") {
		if kind := text(subject, "kind"); kind == "User" || kind == "Group" {
			fillText(subject, "apiGroup", rbacGroup)
		}
	}
}

// protectClaim adds the finalizer that keeps a claim while a pod uses it.
func protectClaim(o *api.Unstructured) {
	metadata := ensure(o.Object, "metadata")
	if !slices.Contains(texts(metadata, "finalizers"), FinalizerClaimProtection) {
		list, _ := metadata["finalizers"].([]any)
		metadata["finalizers"] = append(slices.Clone(list), any(FinalizerClaimProtection))
	}
}

func claimBound(o *api.Unstructured) bool { return o.NestedString("spec", "volumeName") != "" }

func claimCapacity(o *api.Unstructured, _ time.Time) any {
	capacity := o.Nested("status", "capacity", "storage")
	if !claimBound(o) {
		return ""
	}
	return quantityText(capacity)
}

func claimModes(o *api.Unstructured, _ time.Time) any {
	if !claimBound(o) {
		return ""
	}
	return accessModes(o.NestedStringSlice("status", "accessModes"))
}

// accessModes abbreviates access modes, in kubectl's order.
func accessModes(modes []string) string {
	var found []string
	for _, mode := range [][2]string{
		{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
	} {
		if slices.Contains(modes, mode[0]) {
			found = append(found, mode[1])
		}
	}
	return strings.Join(found, ",")
}
