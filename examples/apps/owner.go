package apps

import (
	"context"
	"errors"
	"slices"

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

// Reference returns the entry for metadata.ownerReferences of an owned object. A foreground
// deletion of the owner waits for that object.
func (o Owner) Reference() api.OwnerReference {
	yes := true
	return api.OwnerReference{
		APIVersion: GroupVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}
}

// ControllerOf returns the owner reference with controller: true, or nil.
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

// OwnersOf returns the owners to queue for an event of an object: its controller if the store has
// it, or, for an orphan, every owner whose selector matches.
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

// OwnedHandler returns a handler that calls enqueue for each of [OwnersOf] an object, on every
// event.
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

// LostController reports whether an object had a controller that is not its controller any more.
func LostController(before, now *api.ObjectMeta) bool {
	was, is := ControllerOf(before), ControllerOf(now)
	return was != nil && (is == nil || is.UID != was.UID)
}

// Claim returns those of the objects that belong to the parent. It adopts orphans that the parent's
// selector matches, and releases objects that the selector no longer matches. Before the first
// adoption it asks [IsAlive].
func Claim[C Owned, P Owning](ctx context.Context, parent P, parents Collection[P], objects []C,
	children Collection[C]) ([]C, error) {
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
				alive, err := IsAlive(ctx, parent, parents)
				if err != nil {
					return nil, err
				}
				if !alive {
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

// IsAlive asks the server whether an owner still exists and is not being deleted. Ask before
// something is created for it: the informer's store may still have an owner that is gone. The
// garbage collector would delete the new object, that deletion would be an event, and the next pass
// would create another one.
func IsAlive[P Owning](ctx context.Context, parent P, parents Collection[P]) (bool, error) {
	owner := parent.Owner()
	live, err := parents.Client(owner.Namespace).Get(ctx, owner.Name, api.GetOptions{})
	if api.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now := live.Owner()
	return now.UID == owner.UID && now.DeletionTimestamp == nil, nil
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

// lost reports whether a write came too late: the object is gone, or has another controller or
// another UID.
func lost(err error) bool { return api.IsNotFound(err) || api.IsInvalid(err) || api.IsConflict(err) }

// LabelSelector picks objects by their labels. All of its requirements must hold.
type LabelSelector struct {
	MatchLabels      map[string]string  `json:"matchLabels,omitempty"`
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// LabelRequirement is a requirement on one label. Operator is In, NotIn, Exists or DoesNotExist.
type LabelRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Matches reports whether the selector picks an object with these labels. An empty selector, which
// the server refuses, picks nothing.
func (s LabelSelector) Matches(labels map[string]string) bool {
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return false
	}
	for key, value := range s.MatchLabels {
		if has, ok := labels[key]; !ok || has != value {
			return false
		}
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(r LabelRequirement) bool { return !r.matches(labels) })
}

func (r LabelRequirement) matches(labels map[string]string) bool {
	value, ok := labels[r.Key]
	switch r.Operator {
	case "In":
		return ok && slices.Contains(r.Values, value)
	case "NotIn":
		return !ok || !slices.Contains(r.Values, value)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	}
	return false
}
