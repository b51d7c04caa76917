package resources

import (
	"strconv"

	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

var replicaPaths = &scalePaths{replicas: []string{"spec", "replicas"}, status: []string{"status", "replicas"}, selector: []string{"spec", "selector"}}

// builtinTypes returns the traits of built-in types by qualified name. Types that are absent have
// the zero value.
func builtinTypes(a *allocator) map[string]traits {
	allMetadata := []string{"labels", "annotations", "finalizers", "ownerReferences"}
	role := traits{meta: CheckAllThenStep, name: names.PathSegment, createOnUpdate: true}
	webhooks := traits{generation: counted, conditional: true, loose: true, meta: CheckAll}
	policy := traits{generation: counted, conditional: true, loose: true, meta: CheckAll, statusKeeps: allMetadata}
	binding := role
	binding.fill = fillBinding
	return map[string]traits{
		"configmaps":  {meta: CheckStepThenAll},
		"endpoints":   {createOnUpdate: true},
		"events":      {createOnUpdate: true, selectable: eventSelectable, fields: eventSource, validate: validateEvent},
		"limitranges": {meta: CheckAll, createOnUpdate: true, create: nameOfUID, fill: fillLimitRange},
		"namespaces": {
			name: labelName, fill: labelNamespace, create: prepareNamespace, status: phase("Active"),
			update:     func(o, old *api.Unstructured) { keep(o, old, "spec", "finalizers") },
			selectable: []string{"status.phase"},
			validate:   validateNamespace, special: finalizeNamespace,
		},
		"nodes": {
			sentStatus: true, fill: fillNode, create: taintNode,
			selectable: []string{"spec.unschedulable"},
			fields: func(o tree, fields map[string]string) {
				fields["spec.unschedulable"] = strconv.FormatBool(boolean(child(o, "spec"), "unschedulable"))
			},
		},
		"persistentvolumeclaims": {
			meta: CheckStepThenAll, create: protectClaim, status: phase("Pending"),
		},
		"persistentvolumes": {status: phase("Pending")},
		"pods": {
			generation: counted, fill: fillPod, create: preparePod, update: preparePodUpdate, status: podPending,
			statusKeeps: []string{"ownerReferences"}, selectable: podSelectable, fields: podFields,
			validate: validatePod, validateUpdate: validatePodUpdate,
			special: func(d *Definition) {
				d.Strategy.ValidateStatusUpdate, d.Strategy.GraceSeconds = validatePodStatus, podGrace
			},
		},
		"podtemplates":           {generation: counted, fill: fillTemplate},
		"replicationcontrollers": {generation: counted, orphans: true, fill: fillController, scale: replicaPaths, selectable: []string{"status.replicas"}},
		"secrets": {
			meta: CheckStepThenAll, fill: fillSecret, selectable: []string{"type"},
		},
		"serviceaccounts": {meta: CheckStepThenAll},
		"services": {
			name: labelName, createOnUpdate: true, fill: fillService, create: a.prepareService, update: a.prepareServiceUpdate,
			selectable: []string{"spec.clusterIP", "spec.type"},
		},

		"daemonsets.apps": {generation: counted, fill: fillDaemonSet, prepare: templateGeneration},
		"deployments.apps": {
			generation: counted, fill: fillDeployment, scale: replicaPaths, statusKeeps: []string{"labels"},
			validate: validateDeployment, validateUpdate: validateDeploymentUpdate,
			special: func(d *Definition) { d.Strategy.PrepareUpdate = prepareDeploymentUpdate },
		},
		"replicasets.apps": {
			generation: counted, fill: fillTemplate, scale: replicaPaths,
			validate: validateReplicaSet, validateUpdate: validateReplicaSetUpdate,
		},
		"statefulsets.apps": {generation: counted, fill: fillStatefulSet, scale: replicaPaths},

		"horizontalpodautoscalers.autoscaling": {special: olderAutoscalers},

		"cronjobs.batch": {generation: counted, fill: fillCronJob},
		"jobs.batch":     {generation: counted, orphans: true, fill: fillJob, prepare: selectOwnPods, selectable: []string{"status.successful"}},

		"certificatesigningrequests.certificates.k8s.io": {
			selectable: []string{"spec.signerName"},
		},

		"events.events.k8s.io": {createOnUpdate: true, fields: eventSource, selectable: eventSelectable, validate: validateGroupEvent, special: groupEvents},

		"ingressclasses.networking.k8s.io":  {generation: counted},
		"ingresses.networking.k8s.io":       {generation: counted},
		"networkpolicies.networking.k8s.io": {generation: counted, fill: fillNetworkPolicy},

		"poddisruptionbudgets.policy": {generation: counted, conditional: true},

		"clusterrolebindings.rbac.authorization.k8s.io": binding,
		"clusterroles.rbac.authorization.k8s.io":        role,
		"rolebindings.rbac.authorization.k8s.io":        binding,
		"roles.rbac.authorization.k8s.io":               role,

		"csidrivers.storage.k8s.io":           {generation: countedLater, conditional: true},
		"csinodes.storage.k8s.io":             {conditional: true},
		"csistoragecapacities.storage.k8s.io": {conditional: true},
		"volumeattachments.storage.k8s.io":    {conditional: true},

		"mutatingadmissionpolicies.admissionregistration.k8s.io":         policy,
		"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   policy,
		"mutatingwebhookconfigurations.admissionregistration.k8s.io":     webhooks,
		"validatingadmissionpolicies.admissionregistration.k8s.io":       policy,
		"validatingadmissionpolicybindings.admissionregistration.k8s.io": policy,
		"validatingwebhookconfigurations.admissionregistration.k8s.io":   webhooks,

		"customresourcedefinitions.apiextensions.k8s.io": {
			generation: counted, conditional: true, loose: true, fill: fillCRD, status: newCRDStatus, prepare: rememberVersions,
			statusKeeps: []string{"labels", "annotations", "ownerReferences"}, validate: validateCRD, validateUpdate: validateCRDUpdate,
			special: func(d *Definition) { d.Strategy.Warnings = ignoredParts },
		},
		"apiservices.apiregistration.k8s.io": {
			meta: CheckStepThenAll, conditional: true, loose: true, name: names.PathSegment, statusKeeps: allMetadata,
			validate: validateAPIService,
		},

		"priorityclasses.scheduling.k8s.io": {generation: countedOnce},
		"leases.coordination.k8s.io": {
			createOnUpdate: true, conditional: true, loose: true, validate: validateLease,
		},
		"runtimeclasses.node.k8s.io": {createOnUpdate: true, conditional: true, loose: true},

		"endpointslices.discovery.k8s.io": {generation: counted, fill: fillSlice},

		"deviceclasses.resource.k8s.io":  {generation: counted},
		"resourceslices.resource.k8s.io": {generation: counted, selectable: []string{"spec.nodeName", "spec.driver"}},

		"flowschemas.flowcontrol.apiserver.k8s.io":                 {generation: counted},
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {generation: counted},
	}
}
