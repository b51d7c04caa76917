package resources

import (
	"orrery/restclient/api"
)

// What workloads fill in that depends on other fields. Only what a client is likely to notice is here.

// fillTemplate is for everything with a template of pods.
func fillTemplate(o tree) {
	template := child(o, "template") // of a PodTemplate
	if spec := child(o, "spec"); spec != nil {
		template = child(spec, "template")
	}
	if spec := child(template, "spec"); spec != nil {
		fillPodSpec(spec)
	}
}

func fillDaemonSet(o tree) {
	fillTemplate(o)
	fillRolling(o, "updateStrategy", tree{"maxSurge": int64(0), "maxUnavailable": int64(1)})
}

func fillStatefulSet(o tree) {
	fillTemplate(o)
	fillRolling(o, "updateStrategy", tree{"partition": int64(0)})
}

func fillDeployment(o tree) {
	fillTemplate(o)
	fillRolling(o, "strategy", tree{"maxUnavailable": "25%", "maxSurge": "25%"})
}

// fillRolling fills in the details of a workload that replaces its pods one after the other.
func fillRolling(o tree, key string, details tree) {
	if strategy := child(child(o, "spec"), key); text(strategy, "type") == "RollingUpdate" {
		fillMap(strategy, "rollingUpdate", details)
	}
}

// templateGeneration is written for programs of a time when there was no other way to see that a template has changed.
func templateGeneration(o *api.Unstructured) {
	metadata := made(o.Object, "metadata")
	made(metadata, "annotations")["deprecated.daemonset.template.generation"] = decimal(whole(metadata, "generation"))
}

// fillController takes the selector, and the labels of the controller itself, from the template where they are not given.
func fillController(o tree) {
	fillTemplate(o)
	spec := made(o, "spec")
	labels := child(child(child(spec, "template"), "metadata"), "labels")
	if len(child(spec, "selector")) == 0 {
		fillMap(spec, "selector", labels)
	}
	if metadata := made(o, "metadata"); len(child(metadata, "labels")) == 0 {
		fillMap(metadata, "labels", labels)
	}
}

func fillJob(o tree) {
	fillTemplate(o)
	spec := made(o, "spec")
	if spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
	fill(spec, "parallelism", int64(1))
}

func fillCronJob(o tree) { fillTemplate(child(child(o, "spec"), "jobTemplate")) }

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

// fillMap fills in the keys of a map that it does not have.
func fillMap(t tree, key string, from tree) {
	if len(from) == 0 {
		return
	}
	into := made(t, key)
	for name, value := range from {
		fill(into, name, value)
	}
}

func phase(name string) func(tree) tree { return func(tree) tree { return tree{"phase": name} } }

func fillNetworkPolicy(o tree) {
	spec := made(o, "spec")
	if has(spec, "policyTypes") {
		return
	}
	types := []any{"Ingress"}
	if len(items(spec, "egress")) > 0 {
		types = append(types, "Egress")
	}
	spec["policyTypes"] = types
}

func fillSlice(o tree) {
	for _, port := range items(o, "ports") {
		fill(port, "name", "")
	}
}
