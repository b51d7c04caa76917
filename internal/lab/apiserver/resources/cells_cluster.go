package resources

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

var (
	componentCells = map[string]cell{
		"Status": value("Unknown", "conditions", "status"), "Message": value("", "message"), "Error": value("", "error"),
	}
	signingCells = map[string]cell{
		"SignerName": fieldOr(noneText, "spec", "signerName"), "Requestor": field("spec", "username"),
		"RequestedDuration": signingDuration, "Condition": signingCondition,
	}
	ingressClassCells = map[string]cell{"Controller": field("spec", "controller"), "Parameters": part(classParameters, "spec", "parameters")}
	ingressCells      = map[string]cell{
		"Class": fieldOr(noneText, "spec", "ingressClassName"), "Hosts": ingressHosts, "Address": ingressAddress, "Ports": ingressPorts,
	}
	budgetCells = map[string]cell{
		"Min Available": shown("N/A", "spec", "minAvailable"), "Max Unavailable": shown("N/A", "spec", "maxUnavailable"),
		"Allowed Disruptions": number64("status", "disruptionsAllowed"),
	}
	volumeCells = map[string]cell{
		"Capacity": shown("0", "spec", "capacity", "storage"), "Access Modes": accessModes("spec", "accessModes"), "Reclaim Policy": field("spec", "persistentVolumeReclaimPolicy"),
		"Status": volumeStatus, "Claim": part(volumeClaim, "spec", "claimRef"), "StorageClass": field("spec", "storageClassName"),
		"VolumeAttributesClass": fieldOr(unsetText, "spec", "volumeAttributesClassName"), "Reason": field("status", "reason"),
		"VolumeMode": fieldOr(unsetText, "spec", "volumeMode"),
	}
	driverCells = map[string]cell{
		"AttachRequired": value(true, "spec", "attachRequired"), "PodInfoOnMount": value(false, "spec", "podInfoOnMount"),
		"StorageCapacity": value(false, "spec", "storageCapacity"), "RequiresRepublish": value(false, "spec", "requiresRepublish"),
		"TokenRequests": driverTokens, "Modes": list(noneText, "spec", "volumeLifecycleModes"),
	}
	storageClassCells = map[string]cell{
		"Name": storageClassName, "Provisioner": field("provisioner"), "ReclaimPolicy": fieldOr("Delete", "reclaimPolicy"),
		"VolumeBindingMode": fieldOr(unsetText, "volumeBindingMode"), "AllowVolumeExpansion": value(false, "allowVolumeExpansion"),
	}
	attachmentCells = map[string]cell{
		"Attacher": field("spec", "attacher"), "PV": field("spec", "source", "persistentVolumeName"), "Node": field("spec", "nodeName"),
		"Attached": value(false, "status", "attached"),
	}
	priorityClassCells = map[string]cell{
		"Value": number64("value"), "Global-Default": value(false, "globalDefault"), "PreemptionPolicy": field("preemptionPolicy"),
	}
	sliceCells       = map[string]cell{"AddressType": field("addressType"), "Ports": slicePorts, "Endpoints": sliceEndpoints}
	endpointsCells   = map[string]cell{"Endpoints": endpointsList}
	deviceSliceCells = map[string]cell{
		"Node": field("spec", "nodeName"), "Driver": field("spec", "driver"), "Pool": field("spec", "pool", "name"),
	}
	flowCells = map[string]cell{
		"PriorityLevel": field("spec", "priorityLevelConfiguration", "name"), "MatchingPrecedence": number64("spec", "matchingPrecedence"),
		"DistinguisherMethod": fieldOr(noneText, "spec", "distinguisherMethod", "type"), "MissingPL": flowDangles,
	}
	levelCells = map[string]cell{
		"Type":                     field("spec", "type"),
		"NominalConcurrencyShares": value(noneText, "spec", "limited", "nominalConcurrencyShares"),
		"Queues":                   value(noneText, "spec", "limited", "limitResponse", "queuing", "queues"),
		"HandSize":                 value(noneText, "spec", "limited", "limitResponse", "queuing", "handSize"),
		"QueueLengthLimit":         value(noneText, "spec", "limited", "limitResponse", "queuing", "queueLengthLimit"),
	}
)

func signingDuration(o *api.Unstructured, _ time.Time) any {
	if o.Nested("spec", "expirationSeconds") == nil {
		return noneText
	}
	return humanDuration(time.Duration(o.NestedInt64("spec", "expirationSeconds")) * time.Second)
}

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

func classParameters(t tree) string {
	if t == nil {
		return noneText
	}
	kind := text(t, "kind")
	if group := text(t, "apiGroup"); group != "" {
		kind += "." + group
	}
	return kind + "/" + text(t, "name")
}

func ingressHosts(o *api.Unstructured, _ time.Time) any {
	var hosts []string
	for _, rule := range items(child(o.Object, "spec"), "rules") {
		if host := text(rule, "host"); host != "" {
			hosts = append(hosts, host)
		}
	}
	return few(hosts, "*")
}

func ingressAddress(o *api.Unstructured, _ time.Time) any {
	var addresses []string
	balancer, _ := o.Nested("status", "loadBalancer").(map[string]any)
	for _, ingress := range items(balancer, "ingress") {
		addresses = append(addresses, cmp.Or(text(ingress, "ip"), text(ingress, "hostname")))
	}
	return strings.Join(addresses, ",")
}

func ingressPorts(o *api.Unstructured, _ time.Time) any {
	if len(items(child(o.Object, "spec"), "tls")) > 0 {
		return "80, 443"
	}
	return "80"
}

func parentReference(t tree) string {
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

func volumeClaim(t tree) string {
	if t == nil {
		return ""
	}
	return text(t, "namespace") + "/" + text(t, "name")
}

func driverTokens(o *api.Unstructured, _ time.Time) any {
	if o.Nested("spec", "tokenRequests") == nil {
		return unsetText
	}
	return joined("audience", "spec", "tokenRequests")(o, time.Time{})
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
	return few(ports, unsetText)
}

func sliceEndpoints(o *api.Unstructured, _ time.Time) any {
	var addresses []string
	for _, endpoint := range items(o.Object, "endpoints") {
		addresses = append(addresses, texts(endpoint, "addresses")...)
	}
	return few(addresses, unsetText)
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
	return few(all, noneText)
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

func flowDangles(o *api.Unstructured, _ time.Time) any {
	return cmp.Or(condition(child(o.Object, "status"), "Dangling", "status"), "?")
}

// Webhooks and policies are only stored; faults play their refusals.

var policyCells = map[string]cell{
	"Validations": length("spec", "validations"), "Mutations": length("spec", "mutations"), "ParamKind": policyParamKind,
	"PolicyName": field("spec", "policyName"), "ParamRef": bindingParamRef,
}

func policyParamKind(o *api.Unstructured, _ time.Time) any {
	kind, _ := o.Nested("spec", "paramKind").(map[string]any)
	if kind == nil {
		return unsetText
	}
	return text(kind, "apiVersion") + "/" + text(kind, "kind")
}

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

var bindingCells = map[string]cell{
	"Role": part(reference, "roleRef"), "Users": bindingSubjects("User"), "Groups": bindingSubjects("Group"), "ServiceAccounts": bindingSubjects("ServiceAccount"),
}

func fillBinding(o tree) {
	for _, subject := range items(o, "subjects") {
		if kind := text(subject, "kind"); kind == "User" || kind == "Group" {
			fillText(subject, "apiGroup", rbacGroup)
		}
	}
}

func bindingSubjects(kind string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		var found []string
		for _, subject := range items(o.Object, "subjects") {
			if text(subject, "kind") != kind {
				continue
			}
			name := text(subject, "name")
			if kind == "ServiceAccount" {
				name = text(subject, "namespace") + "/" + name
			}
			found = append(found, name)
		}
		return strings.Join(found, ", ")
	}
}

var claimCells = map[string]cell{
	"Status": volumeStatus, "Volume": field("spec", "volumeName"), "Capacity": claimCapacity, "Access Modes": claimModes, "StorageClass": claimClass,
	"VolumeAttributesClass": fieldOr(unsetText, "spec", "volumeAttributesClassName"), "VolumeMode": fieldOr(unsetText, "spec", "volumeMode"),
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

func claimModes(o *api.Unstructured, now time.Time) any {
	if !claimBound(o) {
		return ""
	}
	return accessModes("status", "accessModes")(o, now)
}

// accessModes returns the cell of a list of access modes, in kubectl's order.
func accessModes(path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		set := o.NestedStringSlice(path...)
		var found []string
		for _, mode := range [][2]string{{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}} {
			if slices.Contains(set, mode[0]) {
				found = append(found, mode[1])
			}
		}
		return strings.Join(found, ",")
	}
}

func claimClass(o *api.Unstructured, _ time.Time) any {
	if class := o.GetAnnotations()["volume.beta.kubernetes.io/storage-class"]; class != "" {
		return class
	}
	return o.NestedString("spec", "storageClassName")
}
