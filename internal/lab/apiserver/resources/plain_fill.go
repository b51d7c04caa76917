package resources

import "orrery/restclient/api"

// What types without code of their own fill in. Only what a client is likely to notice is here.

func phase(name string) func() tree { return func() tree { return tree{"phase": name} } }

func fillTemplate(o tree) { podSpecDefaults(made(made(o, "template"), "spec")) }

func fillDaemonSet(o tree) {
	spec := made(o, "spec")
	templateDefaults(spec)
	fill(spec, "revisionHistoryLimit", int64(10))
	fillStrategy(spec, tree{"maxSurge": int64(0), "maxUnavailable": int64(1)})
}

// fillStrategy fills in how a workload replaces its pods: one after the other, with these details.
func fillStrategy(spec, rolling tree) {
	strategy := made(spec, "updateStrategy")
	fillText(strategy, "type", "RollingUpdate")
	if text(strategy, "type") == "RollingUpdate" {
		fillMap(strategy, "rollingUpdate", rolling)
	}
}

// templateGeneration is written for programs of a time when there was no other way to see that a template has changed.
func templateGeneration(o *api.Unstructured) {
	metadata := made(o.Object, "metadata")
	made(metadata, "annotations")["deprecated.daemonset.template.generation"] = decimal(whole(metadata, "generation"))
}

func fillStatefulSet(o tree) {
	fillReplicas(o)
	spec := made(o, "spec")
	fill(spec, "revisionHistoryLimit", int64(10))
	fillText(spec, "podManagementPolicy", "OrderedReady")
	fillMap(spec, "persistentVolumeClaimRetentionPolicy", tree{"whenDeleted": "Retain", "whenScaled": "Retain"})
	fillStrategy(spec, tree{"partition": int64(0)})
}

func fillReplicas(o tree) {
	spec := made(o, "spec")
	fill(spec, "replicas", int64(1))
	if child(spec, "template") != nil {
		templateDefaults(spec)
	}
}

func noReplicas() tree { return tree{"replicas": int64(0), "availableReplicas": int64(0)} }

// fillController takes the selector, and the labels of the controller itself, from the template where they are not given.
func fillController(o tree) {
	fillReplicas(o)
	spec := made(o, "spec")
	labels := child(child(child(spec, "template"), "metadata"), "labels")
	if len(child(spec, "selector")) == 0 {
		fillMap(spec, "selector", labels)
	}
	if metadata := made(o, "metadata"); len(child(metadata, "labels")) == 0 {
		fillMap(metadata, "labels", labels)
	}
}

func fillJob(o tree) { fillJobSpec(made(o, "spec")) }

// selectOwnPods gives the pods of a new job labels that no other job's have, and selects them, unless the client has.
func selectOwnPods(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	if truth(spec, "manualSelector") || child(spec, "selector") != nil {
		return
	}
	spec["selector"] = tree{"matchLabels": tree{"batch.kubernetes.io/controller-uid": o.GetUID()}}
	labels := made(made(made(spec, "template"), "metadata"), "labels")
	for _, prefix := range []string{"batch.kubernetes.io/", ""} {
		fill(labels, prefix+"controller-uid", o.GetUID())
		fill(labels, prefix+"job-name", o.GetName())
	}
	if metadata := made(o.Object, "metadata"); len(child(metadata, "labels")) == 0 {
		fillMap(metadata, "labels", labels)
	}
}

func fillJobSpec(spec tree) {
	templateDefaults(spec)
	if spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
	fill(spec, "parallelism", int64(1))
	fill(spec, "backoffLimit", int64(6))
	fillText(spec, "completionMode", "NonIndexed")
	fill(spec, "suspend", false)
	fill(spec, "manualSelector", false)
	fillText(spec, "podReplacementPolicy", "TerminatingOrFailed")
}

func fillCronJob(o tree) {
	spec := made(o, "spec")
	fillText(spec, "concurrencyPolicy", "Allow")
	fill(spec, "suspend", false)
	fill(spec, "successfulJobsHistoryLimit", int64(3))
	fill(spec, "failedJobsHistoryLimit", int64(1))
	template := made(spec, "jobTemplate")
	templateDefaults(made(template, "spec"))
}

func fillAutoscaler(o tree) { fill(made(o, "spec"), "minReplicas", int64(1)) }

func fillVolume(o tree) {
	spec := made(o, "spec")
	fillText(spec, "persistentVolumeReclaimPolicy", "Retain")
	fillText(spec, "volumeMode", "Filesystem")
}

func fillIngressClass(o tree) {
	if parameters := child(child(o, "spec"), "parameters"); parameters != nil {
		fillText(parameters, "scope", "Cluster")
	}
}

func fillLevel(o tree) {
	if limited := child(child(o, "spec"), "limited"); limited != nil {
		fill(limited, "lendablePercent", int64(0))
	}
}

func fillEndpoints(o tree) {
	for _, subset := range items(o, "subsets") {
		for _, port := range items(subset, "ports") {
			fillText(port, "protocol", "TCP")
		}
	}
}

func fillNetworkPolicy(o tree) {
	spec := made(o, "spec")
	fill(spec, "podSelector", tree{})
	for _, way := range []string{"ingress", "egress"} {
		for _, rule := range items(spec, way) {
			for _, port := range items(rule, "ports") {
				fillText(port, "protocol", "TCP")
			}
		}
	}
	if !has(spec, "policyTypes") {
		types := []any{"Ingress"}
		if len(items(spec, "egress")) > 0 {
			types = append(types, "Egress")
		}
		spec["policyTypes"] = types
	}
}

func fillDriver(o tree) {
	spec := made(o, "spec")
	fill(spec, "attachRequired", true)
	fill(spec, "podInfoOnMount", false)
	fill(spec, "storageCapacity", false)
	fill(spec, "requiresRepublish", false)
	fill(spec, "seLinuxMount", false)
	fillText(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType")
	fill(spec, "volumeLifecycleModes", []any{"Persistent"})
}

func fillStorageClass(o tree) {
	fillText(o, "reclaimPolicy", "Delete")
	fillText(o, "volumeBindingMode", "Immediate")
}

func fillPriorityClass(o tree) { fillText(o, "preemptionPolicy", "PreemptLowerPriority") }

func fillSlice(o tree) {
	for _, port := range items(o, "ports") {
		fill(port, "name", "")
		fillText(port, "protocol", "TCP")
	}
}

func fillMutation(o tree) { defaultPolicy(&api.Unstructured{Object: o}) }
