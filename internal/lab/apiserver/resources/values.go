package resources

import (
	"slices"

	"orrery/restclient/api"
)

// nameOfUID names an object without a name after its UID, as kube-apiserver does for LimitRanges.
func nameOfUID(o *api.Unstructured) {
	if o.GetName() == "" {
		metadata := ensure(o.Object, "metadata")
		metadata["name"] = metadata["uid"]
	}
}

// protectClaim adds the finalizer that keeps a claim while a pod uses it.
func protectClaim(o *api.Unstructured) {
	metadata := ensure(o.Object, "metadata")
	if !slices.Contains(texts(metadata, "finalizers"), FinalizerClaimProtection) {
		extend(metadata, "finalizers", FinalizerClaimProtection)
	}
}

// taintNode taints a new node until it reports that it is ready.
func taintNode(o *api.Unstructured) {
	const taint = "node.kubernetes.io/not-ready"
	spec := ensure(o.Object, "spec")
	for _, t := range items(spec, "taints") {
		if text(t, "key") == taint {
			return
		}
	}
	extend(spec, "taints", tree{"key": taint, "effect": "NoSchedule"})
}
