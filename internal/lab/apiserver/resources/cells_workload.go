package resources

import (
	"fmt"
	"strings"
	"time"

	"orrery/restclient/api"
)

// withContainers adds the columns about the containers of a pod template.
func withContainers(cells map[string]cell, path ...string) map[string]cell {
	path = append(path, "containers")
	cells["Containers"], cells["Images"] = joined("name", path...), joined("image", path...)
	return cells
}

var (
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
		"MinPods": shown(unsetText, "spec", "minReplicas"), "MaxPods": number64("spec", "maxReplicas"), "Replicas": number64("status", "currentReplicas"),
	}
	deploymentCells = withContainers(map[string]cell{
		"Ready": statefulSetCells["Ready"], "Up-to-date": number64("status", "updatedReplicas"), "Available": number64("status", "availableReplicas"),
		"Selector": labelSelectorCell("spec", "selector"),
	}, "spec", "template", "spec")
	replicaSetCells = withContainers(map[string]cell{
		"Desired": number64("spec", "replicas"), "Current": number64("status", "replicas"), "Ready": number64("status", "readyReplicas"),
		"Selector": labelSelectorCell("spec", "selector"),
	}, "spec", "template", "spec")
)

func controllerOf(o *api.Unstructured, _ time.Time) any {
	for _, owner := range items(child(o.Object, "metadata"), "ownerReferences") {
		if boolean(owner, "controller") {
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

func conditionIs(o *api.Unstructured, kind string) bool {
	return condition(child(o.Object, "status"), kind, "status") == "True"
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
		return unsetText
	case true:
		return "True"
	}
	return "False"
}

// autoscalerTargets shows the current and target values of the first two metrics.
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

// sourceKey returns the field with the source of a metric type: "ContainerResource" is in
// containerResource.
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
