package apps

import (
	"context"
	"errors"

	"orrery/informer"
	"orrery/restclient/api"
)

// Owner is an object that other objects belong to.
type Owner struct {
	Kind string
	*api.ObjectMeta
	Selector LabelSelector
}

// Key returns the key of the owner in stores and queues.
func (o Owner) Key() string { return o.Namespace + "/" + o.Name }

// Reference returns the entry in metadata.ownerReferences of what belongs to the owner. A deletion of the owner in the
// foreground waits for it.
func (o Owner) Reference() api.OwnerReference {
	yes := true
	return api.OwnerReference{
		APIVersion: GroupVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

// ControllerOf returns the reference to the object that manages this one, or nil.
func ControllerOf(meta *api.ObjectMeta) *api.OwnerReference {
	for i, reference := range meta.OwnerReferences {
		if reference.Controller != nil && *reference.Controller {
			return &meta.OwnerReferences[i]
		}
	}
	return nil
}

// Owned is an object that can belong to another one: *[Pod], *[ReplicaSet].
type Owned interface {
	informer.Object
	Meta() *api.ObjectMeta
}

// Owning is an object that others can belong to: *[ReplicaSet], *[Deployment].
type Owning interface {
	Owned
	Owner() Owner
}

// OwnersOf returns the owners that an event about an object concerns: its controller, if that is in the store, or, for an
// orphan, every owner whose selector matches it.
func OwnersOf[P Owning](meta *api.ObjectMeta, parents Collection[P]) (concerned []P) {
	controller := ControllerOf(meta)
	if controller == nil {
		for _, parent := range parents.In(meta.Namespace).List() {
			if parent.Owner().Selector.Matches(meta.Labels) {
				concerned = append(concerned, parent)
			}
		}
		return concerned
	}
	parent, err := parents.In(meta.Namespace).Get(controller.Name)
	if err == nil && parent.Owner().UID == controller.UID {
		concerned = append(concerned, parent)
	}
	return concerned
}

// OwnedHandler returns a handler that calls enqueue for every owner that an event of an object concerns.
func OwnedHandler[C Owned, P Owning](parents Collection[P], enqueue func(P)) informer.ResourceEventHandler[C] {
	concern := func(object C) {
		for _, owner := range OwnersOf(object.Meta(), parents) {
			enqueue(owner)
		}
	}
	return informer.ResourceEventHandlerFuncs[C]{
		AddFunc: func(object C, _ bool) { concern(object) },
		UpdateFunc: func(old, object C) {
			if LostController(old.Meta(), object.Meta()) {
				concern(old)
			}
			concern(object)
		},
		DeleteFunc: func(deleted informer.DeletedObject[C]) { concern(deleted.Object) },
	}
}

// LostController reports whether an object had another controller before than it has now.
func LostController(before, now *api.ObjectMeta) bool {
	was, is := ControllerOf(before), ControllerOf(now)
	return was != nil && (is == nil || is.UID != was.UID)
}

// Claim returns those of the objects that belong to the parent. Orphans that its selector matches are adopted, objects of its
// own that it no longer matches are released.
//
// The informer may not have heard yet that the parent was deleted. So, before the first adoption, it is read from the server.
func Claim[C Owned, P Owning](ctx context.Context, parent P, parents Collection[P], objects []C, children Collection[C]) ([]C, error) {
	owner := parent.Owner()
	client := children.Client(owner.Namespace)
	var (
		claimed  []C
		failures []error
		verified bool
	)
	for _, object := range objects {
		meta := object.Meta()
		controller, matches := ControllerOf(meta), owner.Selector.Matches(meta.Labels)
		switch {
		case controller != nil && controller.UID != owner.UID:
		case controller != nil && matches:
			claimed = append(claimed, object)
		case owner.DeletionTimestamp != nil: // the garbage collector decides now
		case controller != nil:
			if err := release(ctx, owner, meta, client); err != nil {
				failures = append(failures, err)
			}
		case matches && meta.DeletionTimestamp == nil:
			if !verified {
				live, err := parents.Client(owner.Namespace).Get(ctx, owner.Name, api.GetOptions{})
				if err != nil {
					return nil, err
				}
				if now := live.Owner(); now.UID != owner.UID || now.DeletionTimestamp != nil {
					return nil, errOwnerGone
				}
				verified = true
			}
			switch adopted, err := adopt(ctx, owner, meta, client); {
			case err == nil:
				claimed = append(claimed, adopted)
			case !lost(err):
				failures = append(failures, err)
			}
		}
	}
	return claimed, errors.Join(failures...)
}

var errOwnerGone = errors.New("the owner was deleted meanwhile")

type ownersPatch struct {
	Metadata struct {
		UID             string `json:"uid"` // the server refuses the patch for a new object of the same name
		OwnerReferences []any  `json:"ownerReferences"`
	} `json:"metadata"`
}

func adopt[C Owned](ctx context.Context, owner Owner, meta *api.ObjectMeta, client Client[C]) (C, error) {
	var patch ownersPatch
	patch.Metadata.UID, patch.Metadata.OwnerReferences = meta.UID, []any{owner.Reference()}
	return Patch(ctx, client, meta.Name, api.StrategicMergePatchType, patch)
}

func release[C Owned](ctx context.Context, owner Owner, meta *api.ObjectMeta, client Client[C]) error {
	var patch ownersPatch
	patch.Metadata.UID = meta.UID
	patch.Metadata.OwnerReferences = []any{map[string]string{"$patch": "delete", "uid": owner.UID}}
	if _, err := Patch(ctx, client, meta.Name, api.StrategicMergePatchType, patch); !lost(err) {
		return err
	}
	return nil
}

// lost reports whether a write came too late: the object has gone, or has another controller or another identity.
func lost(err error) bool { return api.IsNotFound(err) || api.IsInvalid(err) || api.IsConflict(err) }
