package resources

import (
	"strconv"

	"orrery/restclient/api"
)

var replicaPaths = &scalePaths{
	replicas: []string{"spec", "replicas"},
	status:   []string{"status", "replicas"},
	selector: []string{"spec", "selector"},
}

// builtinHooks returns what built-in types compute, by qualified name.
func builtinHooks(a *allocator) map[string]hooks {
	return map[string]hooks{
		"events":      {fields: eventSource},
		"limitranges": {create: nameOfUID, fill: fillLimitRange},
		"namespaces": {
			fill: labelNamespace, create: prepareNamespace, validate: validateNamespace, special: finalizeNamespace,
			update: func(o, old *api.Unstructured) { keep(o, old, "spec", "finalizers") },
		},
		"nodes": {
			create: taintNode,
			fields: func(o tree, fields map[string]string) {
				fields["spec.unschedulable"] = strconv.FormatBool(boolean(child(o, "spec"), "unschedulable"))
			},
		},
		"persistentvolumeclaims": {create: protectClaim},
		"pods": {
			fill: fillPod, create: preparePod, update: preparePodUpdate, status: podPending, fields: podFields,
			validate: validatePod, validateUpdate: validatePodUpdate,
			special: func(d *Definition) { d.Strategy.GraceSeconds = podGrace },
		},
		"podtemplates":           {fill: fillTemplate},
		"replicationcontrollers": {fill: fillTemplate},
		"secrets":                {fill: fillSecret},
		"services":               {fill: fillService, create: a.prepareService, update: a.prepareServiceUpdate},

		"daemonsets.apps": {fill: fillDaemonSet},
		"deployments.apps": {
			fill: fillDeployment, validate: validateDeployment, validateUpdate: validateSelectorUpdate,
			special: func(d *Definition) { d.Strategy.PrepareUpdate = prepareDeploymentUpdate },
		},
		"replicasets.apps":  {fill: fillTemplate, validate: validateReplicaSet, validateUpdate: validateSelectorUpdate},
		"statefulsets.apps": {fill: fillStatefulSet},

		"horizontalpodautoscalers.autoscaling": {
			special: func(d *Definition) { d.Versions = []string{"v2", "v1"} }, // which differ in apiVersion only
		},
		"cronjobs.batch":       {fill: fillCronJob},
		"jobs.batch":           {fill: fillTemplate},
		"events.events.k8s.io": {fields: eventSource, special: groupEvents},

		"clusterrolebindings.rbac.authorization.k8s.io": {fill: fillBinding},
		"rolebindings.rbac.authorization.k8s.io":        {fill: fillBinding},

		"customresourcedefinitions.apiextensions.k8s.io": {
			fill: fillCRD, status: newCRDStatus, prepare: rememberVersions,
			validate: validateCRD, validateUpdate: validateCRDUpdate,
			special: func(d *Definition) { d.Strategy.Warnings = ignoredParts },
		},
		"apiservices.apiregistration.k8s.io": {validate: validateAPIService},
	}
}
