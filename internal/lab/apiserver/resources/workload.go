package resources

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"orrery/restclient/api"
)

// validateWorkload validates the number of replicas, the selector, which must match the template,
// and the containers.
func validateWorkload(kind string, o *api.Unstructured) []FieldError {
	var m Errors
	spec := child(o.Object, "spec")
	if n := integer(spec, "replicas"); n < 0 {
		m.Invalid("spec.replicas", n, "must be greater than or equal to 0")
	}
	template, written := child(spec, "template"), child(spec, "selector")
	labels := map[string]string{}
	for key := range child(child(template, "metadata"), "labels") {
		labels[key] = text(child(child(template, "metadata"), "labels"), key)
	}
	switch parsed, err := ParseLabelSelector(written); {
	case written == nil:
		m.required("spec.selector", "")
		m.Invalid("spec.template.metadata.labels", nil, "`selector` does not match template `labels`")
	case err != nil:
		m.Invalid("spec.selector", written, "invalid label selector")
	case parsed.Empty():
		m.Invalid("spec.selector", written, "empty selector is invalid for "+kind)
	case !parsed.Matches(labels):
		m.Invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
	}
	m.podSpec(child(template, "spec"), "spec.template.spec")
	return m
}

// workload returns the hooks of a type of workloads.
func workload(kind string) hooks {
	return hooks{
		validate: func(o *api.Unstructured) []FieldError { return validateWorkload(kind, o) },
		validateUpdate: func(o, old *api.Unstructured) []FieldError {
			var m Errors
			m.immutable("spec.selector", o.Nested("spec", "selector"), old.Nested("spec", "selector"))
			return m
		},
	}
}

func readyReplicas(o *api.Unstructured, _ time.Time) any {
	return ratio(o.NestedInt64("status", "readyReplicas"), o.NestedInt64("spec", "replicas"))
}

func validateAPIService(o *api.Unstructured) []FieldError {
	var m Errors
	spec := child(o.Object, "spec")
	if name := text(spec, "version") + "." + text(spec, "group"); o.GetName() != name {
		m.Invalid("metadata.name", o.GetName(), fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", name))
	}
	return m
}

func apiServiceAvailable(o *api.Unstructured, _ time.Time) any {
	status := child(o.Object, "status")
	available := condition(status, "Available", "status")
	if available == "True" {
		return available
	}
	if available == "" {
		return "Unknown"
	}
	return fmt.Sprintf("%s (%s)", available, condition(status, "Available", "reason"))
}

// Priority orders the groups of discovery and the versions within a group, highest first.
type Priority struct{ Group, Version int64 }

// LocalServices are the versions of built-in groups for which kube-apiserver creates an APIService
// at start.
var LocalServices = sync.OnceValue(func() map[api.GroupVersion]Priority {
	services := map[api.GroupVersion]Priority{}
	for name, p := range decoded[map[string][2]int64]("services.yaml") {
		group, version, grouped := strings.Cut(name, "/")
		if !grouped {
			group, version = "", name
		}
		services[api.GroupVersion{Group: group, Version: version}] = Priority{Group: p[0], Version: p[1]}
	}
	return services
})
