package nsctltest

import (
	"context"
	"maps"
	"slices"
	"time"

	"orrery/restclient/api"
)

// worldContent is the world as a ContentClient. (A namespace client has another Delete.)
type worldContent struct{ *world }

// inCollection is a request for one type in one namespace; "" means all.
func (w worldContent) inCollection(ctx context.Context, verb string, gvr api.GroupVersionResource, namespace string, execute func() error) error {
	return w.do(ctx, verb+" "+gvr.Resource+" "+namespace, func() error {
		t := w.types[gvr]
		switch {
		case t == nil:
			return refusals[1]
		case w.stale[gvr.Group]:
			return refusals[6] // its server is down
		case !slices.Contains(t.verbs, verb):
			return refusals[2]
		case t.forbids && verb == "list":
			return refusals[0]
		}
		return execute()
	})
}

// objectsLocked returns the metadata of the objects of a type.
func (w worldContent) objectsLocked(gvr api.GroupVersionResource, namespace string) (heads []*api.PartialObjectMetadata) {
	for _, key := range w.leftLocked(namespace) {
		if key.gvr == gvr {
			head := &api.PartialObjectMetadata{}
			head.Namespace, head.Name, head.Finalizers = namespace, key.name, w.content[namespace][key].finalizers
			heads = append(heads, head)
		}
	}
	return heads
}

func (w worldContent) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) (found []*api.PartialObjectMetadata, listed bool, err error) {
	err = w.inCollection(ctx, "deletecollection", gvr, namespace, func() error {
		found = w.objectsLocked(gvr, namespace)
		for _, head := range found {
			w.deleteLocked(namespace, worldKey{gvr, head.Name})
		}
		// Otherwise the answer is a bare Status, or the first page only. A type that cannot be
		// listed always answers completely, because nothing else shows its content.
		listed = w.drawLocked("answer "+gvr.Resource+" "+namespace).IntN(4) > 0 || !slices.Contains(w.types[gvr].verbs, "list")
		if !listed {
			found = nil
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return found, listed, nil
}

func (w worldContent) deleteLocked(namespace string, key worldKey) {
	ns := w.source.Objects()[namespace]
	if ns == nil || ns.DeletionTimestamp == nil {
		w.violatedLocked("%s %s was deleted, but namespace %s is not terminating", key.gvr.Resource, key.name, namespace)
	}
	if key.gvr != api.PodsResource {
		for _, other := range w.leftLocked(namespace) {
			if other.gvr == api.PodsResource {
				w.violatedLocked("%s %s was deleted, but pod %s of namespace %s exists", key.gvr.Resource, key.name, other.name, namespace)
			}
		}
	}
	object := w.content[namespace][key]
	if !object.deleted {
		object.deleted, object.ends = true, time.Now().Add(object.grace)
	}
}

func (w worldContent) List(ctx context.Context, gvr api.GroupVersionResource, namespace string) (found []*api.PartialObjectMetadata, err error) {
	err = w.inCollection(ctx, "list", gvr, namespace, func() error {
		found = w.objectsLocked(gvr, namespace)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Pages returns pages of two objects. Between them the other passes go on.
func (w worldContent) Pages(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, each func([]*api.PartialObjectMetadata) error,
) error {
	found, err := w.List(ctx, gvr, namespace)
	if err != nil || len(found) == 0 {
		return err
	}
	for page := range slices.Chunk(found, 2) {
		if err := each(page); err != nil {
			return err
		}
	}
	return nil
}

func (w worldContent) ListPods(ctx context.Context, namespace string) (pods []*api.Pod, err error) {
	err = w.inCollection(ctx, "list", api.PodsResource, namespace, func() error {
		for _, head := range w.objectsLocked(api.PodsResource, namespace) {
			pod := &api.Pod{ObjectMeta: head.ObjectMeta}
			seconds := int64(w.content[namespace][worldKey{api.PodsResource, head.Name}].grace / time.Second)
			pod.Spec.TerminationGracePeriodSeconds = &seconds
			pods = append(pods, pod)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pods, nil
}

// Holders returns pages of 3 objects.
func (w worldContent) Holders(ctx context.Context, gvr api.GroupVersionResource) (holders map[string]bool, complete bool, err error) {
	err = w.inCollection(ctx, "list", gvr, "", func() error {
		holders = map[string]bool{}
		objects := 0
		for _, namespace := range slices.Sorted(maps.Keys(w.content)) {
			if n := len(w.objectsLocked(gvr, namespace)); n > 0 && objects < worldPage {
				holders[namespace] = true
				objects += n
			} else if n > 0 {
				objects += n
			}
		}
		complete = objects <= worldPage
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return holders, complete, nil
}

const worldPage = 3

func (w worldContent) Delete(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, object *api.PartialObjectMetadata,
) error {
	return w.inCollection(ctx, "delete", gvr, namespace, func() error {
		key := worldKey{gvr, object.Name}
		if !slices.Contains(w.leftLocked(namespace), key) {
			return errNotFound
		}
		w.deleteLocked(namespace, key)
		return nil
	})
}
