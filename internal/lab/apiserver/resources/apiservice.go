package resources

import (
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

func validateAPIService(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	group, version := text(spec, "group"), text(spec, "version")
	if name := version + "." + group; o.GetName() != name {
		m.invalid("metadata.name", o.GetName(), fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", name))
	}
	if group == "" {
		if version != "v1" {
			m.required("spec.group", "only v1 may have an empty group and it better be legacy kube")
		}
	} else {
		m.names("spec.group", group, names.Subdomain(group))
	}
	m.names("spec.version", version, names.ServiceLabel(version))
	if n := integer(spec, "groupPriorityMinimum"); n <= 0 || n > 20000 {
		m.invalid("spec.groupPriorityMinimum", n, "must be positive and less than 20000")
	}
	if n := integer(spec, "versionPriority"); n <= 0 || n > 1000 {
		m.invalid("spec.versionPriority", n, "must be positive and less than 1000")
	}
	if service := child(spec, "service"); service != nil {
		for _, key := range []string{"namespace", "name"} {
			if text(service, key) == "" {
				m.required("spec.service."+key, "")
			}
		}
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

// CustomPriority is the priority of the groups of custom resources.
var CustomPriority = Priority{Group: 1000, Version: 100}

// LocalServices are the versions of built-in groups for which kube-apiserver creates an APIService
// at start. apiregistration.k8s.io has none.
var LocalServices = map[api.GroupVersion]Priority{
	{Version: "v1"}:                                        {18000, 1},
	{Group: "apps", Version: "v1"}:                         {17800, 15},
	{Group: "events.k8s.io", Version: "v1"}:                {17750, 15},
	{Group: "authentication.k8s.io", Version: "v1"}:        {17700, 15},
	{Group: "authorization.k8s.io", Version: "v1"}:         {17600, 15},
	{Group: "autoscaling", Version: "v2"}:                  {17500, 30},
	{Group: "autoscaling", Version: "v1"}:                  {17500, 15},
	{Group: "batch", Version: "v1"}:                        {17400, 15},
	{Group: "certificates.k8s.io", Version: "v1"}:          {17300, 15},
	{Group: "networking.k8s.io", Version: "v1"}:            {17200, 15},
	{Group: "policy", Version: "v1"}:                       {17100, 15},
	{Group: "rbac.authorization.k8s.io", Version: "v1"}:    {17000, 15},
	{Group: "storage.k8s.io", Version: "v1"}:               {16800, 15},
	{Group: "admissionregistration.k8s.io", Version: "v1"}: {16700, 15},
	{Group: "apiextensions.k8s.io", Version: "v1"}:         {16700, 15},
	{Group: "scheduling.k8s.io", Version: "v1"}:            {16600, 15},
	{Group: "coordination.k8s.io", Version: "v1"}:          {16500, 15},
	{Group: "node.k8s.io", Version: "v1"}:                  {16300, 15},
	{Group: "discovery.k8s.io", Version: "v1"}:             {16200, 15},
	{Group: "resource.k8s.io", Version: "v1"}:              {16200, 21},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"}: {16100, 21},
}
