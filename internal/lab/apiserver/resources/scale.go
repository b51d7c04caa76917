package resources

import (
	"slices"

	"orrery/internal/lab/apiserver/selector"
	"orrery/restclient/api"
)

// scalePaths are the fields that a Scale is made of. selector may be nil.
type scalePaths struct {
	replicas, status, selector []string
}

// Scales returns the definition that describes the documents of all scale subresources.
func Scales() *Definition { return scales }

var scales = &Definition{
	Group: "autoscaling", Version: "v1", Versions: []string{"v1"},
	Plural: "scales", Singular: "scale", Kind: "Scale", ListKind: "ScaleList", Namespaced: true,
	Columns: []Column{
		nameColumn(),
		{
			Name: "Desired", Type: "integer", Cell: cellOf("scales.autoscaling", "Desired", "integer"),
			Description: "The desired number of replicas.",
		},
		{
			Name: "Available", Type: "integer", Cell: cellOf("scales.autoscaling", "Available", "integer"),
			Description: "The number of replicas.",
		},
		ageColumn(),
	},
}

// ScaleOf returns the autoscaling/v1 Scale of an object. The type must have the subresource.
func (d *Definition) ScaleOf(o *api.Unstructured) *api.Unstructured {
	metadata, from := tree{}, child(o.Object, "metadata")
	for _, key := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		if has(from, key) {
			metadata[key] = from[key]
		}
	}
	spec := tree{}
	if replicas := o.NestedInt64(d.scale.replicas...); replicas != 0 {
		spec["replicas"] = replicas
	}
	status := tree{"replicas": o.NestedInt64(d.scale.status...)}
	if labels := d.scale.selectorText(o); labels != "" {
		status["selector"] = labels
	}
	return &api.Unstructured{Object: tree{
		"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status,
	}}
}

// selectorText returns the selector as a string. Custom resources store it so, built-in types as an
// object.
func (p *scalePaths) selectorText(o *api.Unstructured) string {
	if p.selector == nil {
		return ""
	}
	switch v := o.Nested(p.selector...).(type) {
	case string:
		return v
	case map[string]any:
		labels, err := selector.ParseLabelSelector(v)
		if err != nil {
			return ""
		}
		return labels.String()
	}
	return ""
}

// SetScale sets the desired number of replicas from a Scale. It fails if something in the path is
// not an object.
func (d *Definition) SetScale(o, scale *api.Unstructured) error {
	return o.SetNested(scale.NestedInt64("spec", "replicas"), d.scale.replicas...)
}

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
