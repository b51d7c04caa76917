package registry

import (
	"context"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Bind assigns a pod to a node, once: the subresource binding, which is how a scheduler decides.
func (r *Registry) Bind(ctx context.Context, t Target, node string, w WriteOptions) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return t.notFound()
		}
		pod := old.Decode()
		if err := bindable(t, old, pod.NestedString("spec", "nodeName")); err != nil {
			return err
		}
		if err := pod.SetNested(node, "spec", "nodeName"); err != nil {
			return apierrors.InternalError(err)
		}
		setCondition(pod, "PodScheduled", api.ConditionTrue, "", "")
		if err := r.admitted("create", t, w, pod); err != nil {
			return err
		}
		if _, swapped, err := r.replace(t, old, pod, w); swapped || err != nil {
			return err
		}
		r.trace.raced(t)
	}
}

func bindable(t Target, o *store.Object, node string) error {
	conflict := func(why string) error {
		return apierrors.Conflict(t.Definition.Group, t.Definition.Plural+"/binding", t.Name, "pod "+t.Name+" is "+why)
	}
	switch {
	case o.Deleting:
		return conflict("being deleted, cannot be assigned to a host")
	case node != "":
		return conflict(`already assigned to node "` + node + `"`)
	}
	return nil
}
