package resources

import (
	"fmt"
	"strings"
	"time"

	"orrery/restclient/api"
)

func readyReplicas(o *api.Unstructured, _ time.Time) any {
	return ratio(o.NestedInt64("status", "readyReplicas"), o.NestedInt64("spec", "replicas"))
}

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
