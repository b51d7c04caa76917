package kubelet

import (
	"context"
	"slices"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// releaseClaims lets claims go that are being deleted and that no pod uses, by taking away the finalizer that the server gave
// them. In a real cluster that is the work of a controller of its own; without anybody who does it no namespace with a claim in
// it could ever be emptied.
func (k *Kubelet) releaseClaims(ctx context.Context) {
	claims := target(k.config.Catalog, "", "v1", "persistentvolumeclaims")
	page, err := k.config.Registry.List(claims, api.ListOptions{})
	if err != nil {
		return // the next heartbeat tries again
	}
	for _, claim := range page.Items {
		if claim.Deleting && !k.used(claim.Key) {
			k.releaseClaim(ctx, claims, claim)
		}
	}
}

// used tells whether there is a pod that may still write to the claim: one that has not ended.
func (k *Kubelet) used(claim store.Key) bool {
	pods := k.pods
	pods.Namespace = claim.Namespace
	page, err := k.config.Registry.List(pods, api.ListOptions{FieldSelector: "status.phase!=Succeeded,status.phase!=Failed"})
	if err != nil {
		return true
	}
	return slices.ContainsFunc(page.Items, func(pod *store.Object) bool {
		volumes, _ := pod.Decode().Nested("spec", "volumes").([]any)
		return slices.ContainsFunc(volumes, func(volume any) bool {
			fields, _ := volume.(map[string]any)
			source := api.Unstructured{Object: fields}
			return source.NestedString("persistentVolumeClaim", "claimName") == claim.Name
		})
	})
}

func (k *Kubelet) releaseClaim(ctx context.Context, t registry.Target, claim *store.Object) {
	t.Namespace, t.Name = claim.Key.Namespace, claim.Key.Name
	_, err := k.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		finalizers, _ := current.Nested("metadata", "finalizers").([]any)
		left := slices.DeleteFunc(slices.Clone(finalizers), func(finalizer any) bool { return finalizer == resources.FinalizerClaimProtection })
		if current.GetUID() != claim.UID || len(left) == len(finalizers) {
			return current, nil
		}
		return current, current.SetNested(left, "metadata", "finalizers")
	}, writeOptions("system:serviceaccount:kube-system:pvc-protection-controller"))
	if err != nil && !api.IsNotFound(err) {
		k.trace.failed(t.Namespace, t.Name, err)
	}
}
