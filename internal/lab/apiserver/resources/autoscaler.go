package resources

import (
	"slices"

	"orrery/restclient/api"
)

// autoscaling is the group and version in which HorizontalPodAutoscalers are stored.
var autoscaling = api.GroupVersion{Group: "autoscaling", Version: "v2"}

// olderAutoscalers makes d convert autoscaling/v1, whose only metric is CPU utilization. That
// version does not show other metrics, and a write in it loses them.
func olderAutoscalers(d *Definition) {
	if d.Version == "v1" {
		d.Versions, d.Stored, d.ToStorage, d.FromStorage = []string{"v2", "v1"}, &autoscaling, newerAutoscaler, olderAutoscaler
	}
}

const processorTarget = "targetCPUUtilizationPercentage"

func isProcessorMetric(metric tree) bool {
	return text(metric, "type") == "Resource" && text(child(metric, "resource"), "name") == "cpu"
}

func newerAutoscaler(o *api.Unstructured) {
	if spec := child(o.Object, "spec"); has(spec, processorTarget) {
		spec["metrics"] = []any{tree{"type": "Resource", "resource": tree{
			"name": "cpu", "target": tree{"type": "Utilization", "averageUtilization": spec[processorTarget]},
		}}}
		delete(spec, processorTarget)
	}
	if status := child(o.Object, "status"); status != nil {
		if used := status["currentCPUUtilizationPercentage"]; used != nil {
			status["currentMetrics"] = []any{tree{"type": "Resource", "resource": tree{"name": "cpu", "current": tree{"averageUtilization": used}}}}
		}
		delete(status, "currentCPUUtilizationPercentage")
	}
}

func olderAutoscaler(o *api.Unstructured) {
	if spec := child(o.Object, "spec"); spec != nil {
		metrics := items(spec, "metrics")
		if at := slices.IndexFunc(metrics, isProcessorMetric); at >= 0 {
			fill(spec, processorTarget, child(child(metrics[at], "resource"), "target")["averageUtilization"])
		}
		delete(spec, "metrics")
		delete(spec, "behavior")
	}
	if status := child(o.Object, "status"); status != nil {
		fill(status, "currentReplicas", int64(0))
		metrics := items(status, "currentMetrics")
		if at := slices.IndexFunc(metrics, isProcessorMetric); at >= 0 {
			fill(status, "currentCPUUtilizationPercentage", child(child(metrics[at], "resource"), "current")["averageUtilization"])
		}
		delete(status, "currentMetrics")
		delete(status, "conditions")
	}
}
