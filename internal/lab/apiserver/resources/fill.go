package resources

import (
	"orrery/restclient/api"
)

// Defaults of workloads that depend on other fields, as far as clients are likely to notice them.

// fillTemplate sets the defaults of a pod template.
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

// fillRolling sets the defaults of a rolling update.
func fillRolling(o tree, key string, details tree) {
	if strategy := child(child(o, "spec"), key); text(strategy, "type") == "RollingUpdate" {
		fillMap(strategy, "rollingUpdate", details)
	}
}

// templateGeneration sets the deprecated annotation with the generation of the template.
func templateGeneration(o *api.Unstructured) {
	metadata := ensure(o.Object, "metadata")
	ensure(metadata, "annotations")["deprecated.daemonset.template.generation"] = decimal(integer(metadata, "generation"))
}

// fillController takes an absent selector and absent labels from the template.
func fillController(o tree) {
	fillTemplate(o)
	spec := ensure(o, "spec")
	labels := child(child(child(spec, "template"), "metadata"), "labels")
	if len(child(spec, "selector")) == 0 {
		fillMap(spec, "selector", labels)
	}
	if metadata := ensure(o, "metadata"); len(child(metadata, "labels")) == 0 {
		fillMap(metadata, "labels", labels)
	}
}

func fillJob(o tree) {
	fillTemplate(o)
	spec := ensure(o, "spec")
	if spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
	fill(spec, "parallelism", int64(1))
}

func fillCronJob(o tree) { fillTemplate(child(child(o, "spec"), "jobTemplate")) }

// selectOwnPods labels the pods of a new job uniquely and selects them, unless the client chose a
// selector.
func selectOwnPods(o *api.Unstructured) {
	spec := ensure(o.Object, "spec")
	if boolean(spec, "manualSelector") || child(spec, "selector") != nil {
		return
	}
	spec["selector"] = tree{"matchLabels": tree{"batch.kubernetes.io/controller-uid": o.GetUID()}}
	labels := ensure(ensure(ensure(spec, "template"), "metadata"), "labels")
	for _, prefix := range []string{"batch.kubernetes.io/", ""} {
		fill(labels, prefix+"controller-uid", o.GetUID())
		fill(labels, prefix+"job-name", o.GetName())
	}
	if metadata := ensure(o.Object, "metadata"); len(child(metadata, "labels")) == 0 {
		fillMap(metadata, "labels", labels)
	}
}

// fillMap sets the absent keys of a map.
func fillMap(t tree, key string, from tree) {
	if len(from) == 0 {
		return
	}
	into := ensure(t, key)
	for name, value := range from {
		fill(into, name, value)
	}
}

func phase(name string) func(tree) tree { return func(tree) tree { return tree{"phase": name} } }

func fillNetworkPolicy(o tree) {
	spec := ensure(o, "spec")
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
