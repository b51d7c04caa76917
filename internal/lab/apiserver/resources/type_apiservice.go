package resources

import (
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// apiServices say that another server serves a version of a group.
func apiServices() *Definition {
	return &Definition{
		Group:  "apiregistration.k8s.io",
		Plural: "apiservices",
		Columns: []Column{
			nameColumn(),
			{Name: "Service", Type: "string", Description: "The service in front of that server, or Local for this one.", Cell: apiServiceService},
			{Name: "Available", Type: "string", Description: "Whether that server answers.", Cell: apiServiceAvailable},
			ageColumn(),
		},
		Strategy: Strategy{
			UpdateMeta: CheckStepThenAll, LooseFinalizers: true,
			Default:                  defaultAPIService,
			PrepareCreate:            func(o *api.Unstructured) { o.Object["status"] = tree{} },
			PrepareUpdate:            keepStatus,
			PrepareStatus:            statusKeepsMetadata("labels", "annotations", "finalizers", "ownerReferences"),
			Validate:                 validateAPIService,
			ValidateName:             names.PathSegment,
			AllowUnconditionalUpdate: false,
		},
	}
}

func defaultAPIService(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	if service := child(spec, "service"); service != nil {
		fill(service, "port", int64(443))
	}
	conditionTimes(made(o.Object, "status"), "lastTransitionTime")
}

func validateAPIService(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
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
	if n := whole(spec, "groupPriorityMinimum"); n <= 0 || n > 20000 {
		m.invalid("spec.groupPriorityMinimum", n, "must be positive and less than 20000")
	}
	if n := whole(spec, "versionPriority"); n <= 0 || n > 1000 {
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

func apiServiceService(o *api.Unstructured, _ time.Time) any {
	service := child(child(o.Object, "spec"), "service")
	if service == nil {
		return "Local"
	}
	return text(service, "namespace") + "/" + text(service, "name")
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
