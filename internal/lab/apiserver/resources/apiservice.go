package resources

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"orrery/restclient/api"
)

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
