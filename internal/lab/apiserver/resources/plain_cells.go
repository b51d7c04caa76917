package resources

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// The cells of types without code of their own, by the names of their columns.

const unset = "<unset>"

// value makes the cell of any value in the document, with a word for nothing.
func value(nothing any, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		switch v := o.Nested(path...).(type) {
		case nil, map[string]any, []any:
			return nothing
		default:
			return v
		}
	}
}

// shown makes the cell of any value as text.
func shown(nothing string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		if v := o.Nested(path...); v != nil {
			return fmt.Sprint(v)
		}
		return nothing
	}
}

// list makes the cell of a list of texts.
func list(nothing string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		return or(strings.Join(o.NestedStringSlice(path...), ","), nothing)
	}
}

// part makes a cell of what a function makes of the part of the document at a path.
func part(make func(t tree) string, path ...string) cell {
	return func(o *api.Unstructured, _ time.Time) any {
		t, _ := o.Nested(path...).(map[string]any)
		return make(t)
	}
}

func reference(t tree) string { return text(t, "kind") + "/" + text(t, "name") }

func conditionIs(o *api.Unstructured, kind string) bool {
	return condition(child(o.Object, "status"), kind, "status") == "True"
}

// withContainers adds the columns about the containers of a template.
func withContainers(cells map[string]cell, path ...string) map[string]cell {
	containers := func(o *api.Unstructured) []tree {
		spec, _ := o.Nested(path...).(map[string]any)
		return items(spec, "containers")
	}
	cells["Containers"], cells["Images"] = joined(containers, "name"), joined(containers, "image")
	return cells
}

var (
	componentCells = map[string]cell{
		"Status": value("Unknown", "conditions", "status"), "Message": value("", "message"), "Error": value("", "error"),
	}
	podTemplateCells = withContainers(map[string]cell{"Pod Labels": labelSetCell("template", "metadata", "labels")}, "template", "spec")
	controllerCells  = withContainers(map[string]cell{
		"Desired": number64("spec", "replicas"), "Current": number64("status", "replicas"), "Ready": number64("status", "readyReplicas"),
		"Selector": labelSetCell("spec", "selector"),
	}, "spec", "template", "spec")
	daemonSetCells = withContainers(map[string]cell{
		"Desired": number64("status", "desiredNumberScheduled"), "Current": number64("status", "currentNumberScheduled"),
		"Ready": number64("status", "numberReady"), "Up-to-date": number64("status", "updatedNumberScheduled"),
		"Available": number64("status", "numberAvailable"), "Node Selector": labelSetCell("spec", "template", "spec", "nodeSelector"),
		"Selector": labelSelectorCell("spec", "selector"),
	}, "spec", "template", "spec")
	statefulSetCells = withContainers(map[string]cell{
		"Ready": func(o *api.Unstructured, _ time.Time) any {
			return ratio(o.NestedInt64("status", "readyReplicas"), o.NestedInt64("spec", "replicas"))
		},
	}, "spec", "template", "spec")
	revisionCells = map[string]cell{"Controller": controllerOf, "Revision": number64("revision")}
	jobCells      = withContainers(map[string]cell{
		"Status": jobStatus, "Completions": jobCompletions, "Duration": jobDuration, "Selector": labelSelectorCell("spec", "selector"),
	}, "spec", "template", "spec")
	cronJobCells = withContainers(map[string]cell{
		"Schedule": field("spec", "schedule"), "Timezone": fieldOr(noneText, "spec", "timeZone"), "Suspend": cronSuspended,
		"Active": length("status", "active"), "Last Schedule": since(noneText, "status", "lastScheduleTime"),
		"Selector": labelSelectorCell("spec", "jobTemplate", "spec", "selector"),
	}, "spec", "jobTemplate", "spec", "template", "spec")
	autoscalerCells = map[string]cell{
		"Reference": part(reference, "spec", "scaleTargetRef"), "Targets": autoscalerTargets,
		"MinPods": shown(unset, "spec", "minReplicas"), "MaxPods": number64("spec", "maxReplicas"), "Replicas": number64("status", "currentReplicas"),
	}
	signingCells = map[string]cell{
		"SignerName": fieldOr(noneText, "spec", "signerName"), "Requestor": field("spec", "username"),
		"RequestedDuration": signingDuration, "Condition": signingCondition,
	}
	ingressClassCells = map[string]cell{"Controller": field("spec", "controller"), "Parameters": part(classParameters, "spec", "parameters")}
	ingressCells      = map[string]cell{
		"Class": fieldOr(noneText, "spec", "ingressClassName"), "Hosts": ingressHosts, "Address": ingressAddress, "Ports": ingressPorts,
	}
	addressCells       = map[string]cell{"ParentRef": part(parentReference, "spec", "parentRef")}
	networkPolicyCells = map[string]cell{"Pod-Selector": labelSelectorCell("spec", "podSelector")}
	serviceRangeCells  = map[string]cell{"CIDRs": list("", "spec", "cidrs")}
	budgetCells        = map[string]cell{
		"Min Available": shown("N/A", "spec", "minAvailable"), "Max Unavailable": shown("N/A", "spec", "maxUnavailable"),
		"Allowed Disruptions": number64("status", "disruptionsAllowed"),
	}
	volumeCells = map[string]cell{
		"Capacity": shown("0", "spec", "capacity", "storage"), "Access Modes": volumeModes, "Reclaim Policy": field("spec", "persistentVolumeReclaimPolicy"),
		"Status": volumeStatus, "Claim": part(volumeClaim, "spec", "claimRef"), "StorageClass": field("spec", "storageClassName"),
		"VolumeAttributesClass": fieldOr(unset, "spec", "volumeAttributesClassName"), "Reason": field("status", "reason"),
		"VolumeMode": fieldOr(unset, "spec", "volumeMode"),
	}
	driverCells = map[string]cell{
		"AttachRequired": value(true, "spec", "attachRequired"), "PodInfoOnMount": value(false, "spec", "podInfoOnMount"),
		"StorageCapacity": value(false, "spec", "storageCapacity"), "RequiresRepublish": value(false, "spec", "requiresRepublish"),
		"TokenRequests": driverTokens, "Modes": list(noneText, "spec", "volumeLifecycleModes"),
	}
	storageClassCells = map[string]cell{
		"Name": storageClassName, "Provisioner": field("provisioner"), "ReclaimPolicy": fieldOr("Delete", "reclaimPolicy"),
		"VolumeBindingMode": fieldOr(unset, "volumeBindingMode"), "AllowVolumeExpansion": value(false, "allowVolumeExpansion"),
	}
	attachmentCells = map[string]cell{
		"Attacher": field("spec", "attacher"), "PV": field("spec", "source", "persistentVolumeName"), "Node": field("spec", "nodeName"),
		"Attached": value(false, "status", "attached"),
	}
	mutationCells = map[string]cell{
		"Mutations": length("spec", "mutations"), "ParamKind": policyParamKind,
		"PolicyName": field("spec", "policyName"), "ParamRef": bindingParamRef,
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

// since makes the cell of the time that has passed since a moment in the document.
func since(nothing string, path ...string) cell {
	return func(o *api.Unstructured, now time.Time) any {
		moment := o.NestedString(path...)
		if moment == "" {
			return nothing
		}
		return ageOf(moment, now)
	}
}

func controllerOf(o *api.Unstructured, _ time.Time) any {
	for _, owner := range items(child(o.Object, "metadata"), "ownerReferences") {
		if truth(owner, "controller") {
			gv, _ := api.ParseGroupVersion(text(owner, "apiVersion"))
			kind := strings.ToLower(text(owner, "kind"))
			if gv.Group != "" {
				kind += "." + gv.Group
			}
			return kind + "/" + text(owner, "name")
		}
	}
	return noneText
}

func jobStatus(o *api.Unstructured, _ time.Time) any {
	switch {
	case conditionIs(o, "Complete"):
		return "Complete"
	case conditionIs(o, "Failed"):
		return "Failed"
	case o.GetDeletionTimestamp() != nil:
		return "Terminating"
	}
	for _, kind := range []string{"Suspended", "FailureTarget", "SuccessCriteriaMet"} {
		if conditionIs(o, kind) {
			return kind
		}
	}
	return "Running"
}

func jobCompletions(o *api.Unstructured, _ time.Time) any {
	succeeded, parallelism := o.NestedInt64("status", "succeeded"), o.NestedInt64("spec", "parallelism")
	switch {
	case o.Nested("spec", "completions") != nil:
		return ratio(succeeded, o.NestedInt64("spec", "completions"))
	case parallelism > 1:
		return fmt.Sprintf("%d/1 of %d", succeeded, parallelism)
	}
	return ratio(succeeded, 1)
}

func jobDuration(o *api.Unstructured, now time.Time) any {
	started := o.NestedString("status", "startTime")
	if started == "" {
		return ""
	}
	if ended, err := time.Parse(time.RFC3339, o.NestedString("status", "completionTime")); err == nil {
		now = ended
	}
	return ageOf(started, now)
}

func cronSuspended(o *api.Unstructured, _ time.Time) any {
	switch o.Nested("spec", "suspend") {
	case nil:
		return unset
	case true:
		return "True"
	}
	return "False"
}

// autoscalerTargets shows what is measured beside what is wanted, of the first two metrics.
func autoscalerTargets(o *api.Unstructured, _ time.Time) any {
	const most = 2
	spec, status := child(o.Object, "spec"), child(o.Object, "status")
	metrics, current := items(spec, "metrics"), items(status, "currentMetrics")
	var shownMetrics []string
	for i, metric := range metrics {
		if i == most {
			break
		}
		kind := text(metric, "type")
		source := sourceKey(kind)
		var measured tree
		if i < len(current) {
			measured = child(child(current[i], source), "current")
		}
		name := ""
		if kind == "Resource" || kind == "ContainerResource" {
			name = text(child(metric, source), "name") + ": "
		}
		shownMetrics = append(shownMetrics, name+metricValue(measured, "<unknown>")+"/"+metricValue(child(child(metric, source), "target"), "<auto>"))
	}
	if len(shownMetrics) == 0 {
		return noneText
	}
	all := strings.Join(shownMetrics, ", ")
	if more := len(metrics) - most; more > 0 {
		return fmt.Sprintf("%s + %d more...", all, more)
	}
	return all
}

// sourceKey is the field of a metric that belongs to its type: "ContainerResource" is in containerResource.
func sourceKey(kind string) string {
	if kind == "" {
		return ""
	}
	return strings.ToLower(kind[:1]) + kind[1:]
}

func metricValue(t tree, nothing string) string {
	if percent := t["averageUtilization"]; percent != nil {
		return fmt.Sprintf("%v%%", percent)
	}
	for _, key := range []string{"averageValue", "value"} {
		if t[key] != nil {
			return fmt.Sprint(t[key])
		}
	}
	return nothing
}

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
	const most = 3
	var hosts []string
	for _, rule := range items(child(o.Object, "spec"), "rules") {
		if host := text(rule, "host"); host != "" {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) == 0 {
		return "*"
	}
	if more := len(hosts) - most; more > 0 {
		return fmt.Sprintf("%s + %d more...", strings.Join(hosts[:most], ","), more)
	}
	return strings.Join(hosts, ",")
}

func ingressAddress(o *api.Unstructured, _ time.Time) any {
	var addresses []string
	balancer, _ := o.Nested("status", "loadBalancer").(map[string]any)
	for _, ingress := range items(balancer, "ingress") {
		addresses = append(addresses, or(text(ingress, "ip"), text(ingress, "hostname")))
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

func volumeModes(o *api.Unstructured, _ time.Time) any {
	short := map[string]string{"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
	has := o.NestedStringSlice("spec", "accessModes")
	var modes []string
	for _, mode := range []string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"} {
		if slices.Contains(has, mode) {
			modes = append(modes, short[mode])
		}
	}
	return strings.Join(modes, ",")
}

func volumeClaim(t tree) string {
	if t == nil {
		return ""
	}
	return text(t, "namespace") + "/" + text(t, "name")
}

func driverTokens(o *api.Unstructured, _ time.Time) any {
	if o.Nested("spec", "tokenRequests") == nil {
		return unset
	}
	return joined(func(o *api.Unstructured) []tree { return items(child(o.Object, "spec"), "tokenRequests") }, "audience")(o, time.Time{})
}

func storageClassName(o *api.Unstructured, _ time.Time) any {
	for _, key := range []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"} {
		if o.GetAnnotations()[key] == "true" {
			return o.GetName() + " (default)"
		}
	}
	return o.GetName()
}

// few joins at most three of several texts.
func few(all []string) string {
	const most = 3
	switch {
	case len(all) == 0:
		return unset
	case len(all) > most:
		return fmt.Sprintf("%s + %d more...", strings.Join(all[:most], ","), len(all)-most)
	}
	return strings.Join(all, ",")
}

func slicePorts(o *api.Unstructured, _ time.Time) any {
	var ports []string
	for _, port := range items(o.Object, "ports") {
		number := "*"
		if has(port, "port") {
			number = decimal(whole(port, "port"))
		}
		ports = append(ports, number)
	}
	return few(ports)
}

func sliceEndpoints(o *api.Unstructured, _ time.Time) any {
	var addresses []string
	for _, endpoint := range items(o.Object, "endpoints") {
		addresses = append(addresses, texts(endpoint, "addresses")...)
	}
	return few(addresses)
}

func endpointsList(o *api.Unstructured, _ time.Time) any {
	var all []string
	for _, subset := range items(o.Object, "subsets") {
		for _, address := range items(subset, "addresses") {
			if len(items(subset, "ports")) == 0 {
				all = append(all, text(address, "ip"))
			}
			for _, port := range items(subset, "ports") {
				all = append(all, text(address, "ip")+":"+decimal(whole(port, "port")))
			}
		}
	}
	if len(all) == 0 {
		return noneText
	}
	return few(all)
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
	return or(condition(child(o.Object, "status"), "Dangling", "status"), "?")
}
