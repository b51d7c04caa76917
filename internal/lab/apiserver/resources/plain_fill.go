package resources

// What types without code of their own fill in. Only what a client is likely to notice is here.

func phase(name string) func() tree { return func() tree { return tree{"phase": name} } }

func fillTemplate(o tree) { podSpecDefaults(made(made(o, "template"), "spec")) }

func fillSpecTemplate(o tree) {
	templateDefaults(made(o, "spec"))
	fill(made(o, "spec"), "revisionHistoryLimit", int64(10))
}

func fillReplicas(o tree) {
	spec := made(o, "spec")
	fill(spec, "replicas", int64(1))
	template := child(spec, "template")
	if template == nil {
		return
	}
	templateDefaults(spec)
	if labels := child(child(template, "metadata"), "labels"); len(labels) > 0 && text(o, "kind") == "ReplicationController" {
		fillMap(spec, "selector", labels)
	}
}

func fillJob(o tree) {
	spec := made(o, "spec")
	fillJobSpec(spec)
	if uid := text(child(o, "metadata"), "uid"); uid != "" && !truth(spec, "manualSelector") && child(spec, "selector") == nil {
		labels := tree{"batch.kubernetes.io/controller-uid": uid}
		spec["selector"] = tree{"matchLabels": labels}
		own := made(made(made(spec, "template"), "metadata"), "labels")
		for _, prefix := range []string{"batch.kubernetes.io/", ""} {
			fill(own, prefix+"controller-uid", uid)
			fill(own, prefix+"job-name", text(child(o, "metadata"), "name"))
		}
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
	if job := child(child(spec, "jobTemplate"), "spec"); job != nil {
		templateDefaults(job)
	}
}

func fillAutoscaler(o tree) { fill(made(o, "spec"), "minReplicas", int64(1)) }

func fillVolume(o tree) {
	spec := made(o, "spec")
	fillText(spec, "persistentVolumeReclaimPolicy", "Retain")
	fillText(spec, "volumeMode", "Filesystem")
}

func fillIngress(o tree) { fill(made(o, "status"), "loadBalancer", tree{}) }

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
