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
	webhooks := traits{
		generation: counted, conditional: true, loose: true, meta: CheckAll,
		cells: map[string]cell{"Webhooks": length("webhooks")},
	}
	policy := traits{generation: counted, conditional: true, loose: true, meta: CheckAll, statusKeeps: allMetadata, cells: policyCells}
	binding := role
	binding.fill, binding.cells = fillBinding, bindingCells
	return map[string]traits{
		"componentstatuses": {cells: componentCells},
		"configmaps":        {meta: CheckStepThenAll, cells: map[string]cell{"Data": configMapKeys}},
		"endpoints":         {createOnUpdate: true, cells: endpointsCells},
		"events":            {createOnUpdate: true, selectable: eventSelectable, fields: eventSource, validate: validateEvent, cells: eventCells},
		"limitranges":       {meta: CheckAll, createOnUpdate: true, create: nameOfUID, fill: fillLimitRange},
		"namespaces": {
			name: labelName, fill: labelNamespace, create: prepareNamespace, status: phase("Active"),
			update:     func(o, old *api.Unstructured) { keep(o, old, "spec", "finalizers") },
			selectable: []string{"status.phase"}, cells: map[string]cell{"Status": field("status", "phase")},
			validate: validateNamespace, special: finalizeNamespace,
		},
		"nodes": {
			sentStatus: true, fill: fillNode, create: taintNode, cells: nodeCells,
			selectable: []string{"spec.unschedulable"},
			fields: func(o tree, fields map[string]string) {
				fields["spec.unschedulable"] = strconv.FormatBool(boolean(child(o, "spec"), "unschedulable"))
			},
		},
		"persistentvolumeclaims": {
			meta: CheckStepThenAll, create: protectClaim, status: phase("Pending"), cells: claimCells,
		},
		"persistentvolumes": {status: phase("Pending"), cells: volumeCells},
		"pods": {
			generation: counted, fill: fillPod, create: preparePod, update: preparePodUpdate, status: podPending,
			statusKeeps: []string{"ownerReferences"}, selectable: podSelectable, fields: podFields, cells: podCells,
			validate: validatePod, validateUpdate: validatePodUpdate,
			special: func(d *Definition) {
				d.Strategy.ValidateStatusUpdate, d.Strategy.GraceSeconds = validatePodStatus, podGrace
			},
		},
		"podtemplates":           {generation: counted, fill: fillTemplate, cells: podTemplateCells},
		"replicationcontrollers": {generation: counted, orphans: true, fill: fillController, scale: replicaPaths, selectable: []string{"status.replicas"}, cells: controllerCells},
		"resourcequotas":         {cells: quotaCells},
		"secrets": {
			meta: CheckStepThenAll, fill: fillSecret, selectable: []string{"type"},
			cells: map[string]cell{"Type": field("type"), "Data": secretKeys},
		},
		"serviceaccounts": {meta: CheckStepThenAll},
		"services": {
			name: labelName, createOnUpdate: true, fill: fillService, create: a.prepareService, update: a.prepareServiceUpdate,
			selectable: []string{"spec.clusterIP", "spec.type"}, cells: serviceCells,
		},

		"controllerrevisions.apps": {cells: revisionCells},
		"daemonsets.apps":          {generation: counted, fill: fillDaemonSet, prepare: templateGeneration, cells: daemonSetCells},
		"deployments.apps": {
			generation: counted, fill: fillDeployment, scale: replicaPaths, statusKeeps: []string{"labels"}, cells: deploymentCells,
			validate: validateDeployment, validateUpdate: validateDeploymentUpdate,
			special: func(d *Definition) { d.Strategy.PrepareUpdate = prepareDeploymentUpdate },
		},
		"replicasets.apps": {
			generation: counted, fill: fillTemplate, scale: replicaPaths, cells: replicaSetCells,
			validate: validateReplicaSet, validateUpdate: validateReplicaSetUpdate,
		},
		"statefulsets.apps": {generation: counted, fill: fillStatefulSet, scale: replicaPaths, cells: statefulSetCells},

		"horizontalpodautoscalers.autoscaling": {special: olderAutoscalers, cells: autoscalerCells},

		"cronjobs.batch": {generation: counted, fill: fillCronJob, cells: cronJobCells},
		"jobs.batch":     {generation: counted, orphans: true, fill: fillJob, prepare: selectOwnPods, selectable: []string{"status.successful"}, cells: jobCells},

		"certificatesigningrequests.certificates.k8s.io": {
			selectable: []string{"spec.signerName"}, cells: signingCells,
		},

		"events.events.k8s.io": {createOnUpdate: true, fields: eventSource, selectable: eventSelectable, validate: validateGroupEvent, special: groupEvents, cells: eventCells},

		"ingressclasses.networking.k8s.io":  {generation: counted, cells: ingressClassCells},
		"ingresses.networking.k8s.io":       {generation: counted, cells: ingressCells},
		"ipaddresses.networking.k8s.io":     {cells: map[string]cell{"ParentRef": part(parentReference, "spec", "parentRef")}},
		"networkpolicies.networking.k8s.io": {generation: counted, fill: fillNetworkPolicy, cells: map[string]cell{"Pod-Selector": labelSelectorCell("spec", "podSelector")}},
		"servicecidrs.networking.k8s.io":    {cells: map[string]cell{"CIDRs": list("", "spec", "cidrs")}},

		"poddisruptionbudgets.policy": {generation: counted, conditional: true, cells: budgetCells},

		"clusterrolebindings.rbac.authorization.k8s.io": binding,
		"clusterroles.rbac.authorization.k8s.io":        role,
		"rolebindings.rbac.authorization.k8s.io":        binding,
		"roles.rbac.authorization.k8s.io":               role,

		"csidrivers.storage.k8s.io":              {generation: countedLater, conditional: true, cells: driverCells},
		"csinodes.storage.k8s.io":                {conditional: true, cells: map[string]cell{"Drivers": length("spec", "drivers")}},
		"csistoragecapacities.storage.k8s.io":    {conditional: true},
		"storageclasses.storage.k8s.io":          {cells: storageClassCells},
		"volumeattachments.storage.k8s.io":       {conditional: true, cells: attachmentCells},
		"volumeattributesclasses.storage.k8s.io": {cells: map[string]cell{"DriverName": field("driverName")}},

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
			validate: validateAPIService, cells: apiServiceCells,
		},

		"priorityclasses.scheduling.k8s.io": {generation: countedOnce, cells: priorityClassCells},
		"leases.coordination.k8s.io": {
			createOnUpdate: true, conditional: true, loose: true, validate: validateLease, cells: map[string]cell{"Holder": field("spec", "holderIdentity")},
		},
		"runtimeclasses.node.k8s.io": {createOnUpdate: true, conditional: true, loose: true, cells: map[string]cell{"Handler": field("handler")}},

		"endpointslices.discovery.k8s.io": {generation: counted, fill: fillSlice, cells: sliceCells},

		"deviceclasses.resource.k8s.io":  {generation: counted},
		"resourceclaims.resource.k8s.io": {cells: map[string]cell{"State": deviceClaimState}},
		"resourceslices.resource.k8s.io": {generation: counted, selectable: []string{"spec.nodeName", "spec.driver"}, cells: deviceSliceCells},

		"flowschemas.flowcontrol.apiserver.k8s.io":                 {generation: counted, cells: flowCells},
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {generation: counted, cells: levelCells},
	}
}
