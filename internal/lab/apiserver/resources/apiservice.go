package resources

import (
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/meta"
	"orrery/restclient/api"
)

func validateAPIService(o *api.Unstructured) []meta.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	if name := text(spec, "version") + "." + text(spec, "group"); o.GetName() != name {
		m.invalid("metadata.name", o.GetName(), fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", name))
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
