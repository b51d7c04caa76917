package controller

import (
	"context"
	"time"

	"orrery/informer"
	"orrery/restclient/api"
)

// Reconcile makes one pass over an object of the local copy, also over one that has a
// DeletionTimestamp and is kept by a finalizer. The object is shared: do not change it. after is
// when to look at it again although nothing has failed; 0 means at the next event. After an error
// the pass is repeated, later each time; see [Permanent]. A conflict is such an error: the server
// refuses an Update of an outdated object, and the next pass sees the newer one. To change an
// object, change its DeepCopy.
type Reconcile[T Object] func(ctx context.Context, object T) (after time.Duration, err error)

// Options tune a controller. The zero value works.
type Options struct {
	// Workers is how many objects are worked on at a time. Default 5. An object is never worked on
	// twice at a time.
	Workers int
	// PassTimeout is how long a pass may take. Default 2 minutes; negative is no limit.
	PassTimeout time.Duration
	// Gone makes a pass over the key, namespace/name, of an object that the collection does not
	// have any more. Default: nothing. It may be called repeatedly, also for an object that the
	// label selector no longer selects. For one that goes while no replica works it is called only
	// if an object of [Owns] still names it: what must not be missed needs a finalizer.
	Gone func(ctx context.Context, key string) error
	// Trace observes the passes. Default: failed passes are written to Config.Failures; a Trace
	// takes the place of that, and Run does not return [ErrCutShort] then.
	Trace *PoolTrace
}

// Controller calls a [Reconcile] for the objects of a collection: for each that exists when it
// starts, and again when one changes.
type Controller[T Object] struct {
	pool     *Pool
	relevant func(old, object T) bool
	owners   []func() []string // the keys that the objects of Owns name
}

// New returns a controller of the objects of a collection, which [Manager.Run] runs. name is in
// failures and in the queue's metrics.
func New[T Object](m *Manager, name string, of *Collection[T], reconcile Reconcile[T], options Options) *Controller[T] {
	if reconcile == nil {
		panic("controller: " + name + " has no Reconcile")
	}
	c := &Controller[T]{relevant: func(T, T) bool { return true }}
	store := of.informer.GetIndexer()
	handle(of, informer.ResourceEventHandlerFuncs[T]{
		AddFunc: func(object T, _ bool) { c.queue(object) },
		UpdateFunc: func(old, object T) {
			if c.relevant(old, object) {
				c.queue(object)
			}
		},
		DeleteFunc: func(deleted informer.DeletedObject[T]) { c.pool.Add(deleted.Key) },
	})
	config := m.PoolConfig(name)
	config.Workers, config.PassTimeout = options.Workers, options.PassTimeout
	if options.Trace != nil {
		config.Trace = options.Trace
	}
	config.Synced = []informer.InformerSynced{m.hasSynced}
	config.Keys = func() []string {
		keys := store.ListKeys()
		for _, named := range c.owners {
			keys = append(keys, named()...)
		}
		return keys
	}
	config.Reconcile = func(ctx context.Context, key string) (after time.Duration, err error) {
		object, found := store.GetByKey(key)
		switch {
		case found:
			return reconcile(ctx, object)
		case options.Gone != nil:
			return 0, options.Gone(ctx, key)
		}
		return 0, nil
	}
	c.pool = NewPool(config)
	m.Add(func() (func(stop, alive context.Context), error) { return c.pool.Run, nil })
	return c
}

// When limits which changes of an object of the controller queue it: those for which relevant
// returns true. An object that is new, or gone, is queued in any case. Each call replaces the last.
func (c *Controller[T]) When(relevant func(old, object T) bool) { c.relevant = relevant }

func (c *Controller[T]) queue(object T) {
	if key, err := informer.MetaNamespaceKeyFunc(object); err == nil {
		c.pool.Add(key)
	}
}

// Owns queues the object that owner names whenever an object of another collection changes: one
// that the controller has made, or reads. owner returns a key, namespace/name or the name of an
// object of the cluster; "" for none. See [OwnerOfKind].
func Owns[T, D Object](c *Controller[T], of *Collection[D], owner func(D) string) {
	queue := func(object D) {
		if key := owner(object); key != "" {
			c.pool.Add(key)
		}
	}
	c.owners = append(c.owners, func() (keys []string) {
		for _, object := range of.CachedList(nil) {
			if key := owner(object); key != "" {
				keys = append(keys, key)
			}
		}
		return keys
	})
	handle(of, informer.ResourceEventHandlerFuncs[D]{
		AddFunc:    func(object D, _ bool) { queue(object) },
		UpdateFunc: func(old, object D) { queue(old); queue(object) },
		DeleteFunc: func(deleted informer.DeletedObject[D]) { queue(deleted.Object) },
	})
}

// OwnerOfKind returns an owner for [Owns]: the object of that kind, of any API group, which the
// ownerReferences of an object call its controller. It must be in the same namespace; for an owner
// of the cluster, pass a function that returns its name.
func OwnerOfKind[D interface {
	Object
	GetOwnerReferences() []api.OwnerReference
}](kind string) func(D) string {
	return func(object D) string {
		for _, owner := range object.GetOwnerReferences() {
			if owner.Kind == kind && owner.Controller != nil && *owner.Controller {
				return object.GetNamespace() + "/" + owner.Name
			}
		}
		return ""
	}
}

// ControlledBy returns the ownerReference of an object that owner controls: the garbage collector
// deletes the object after its owner, and [OwnerOfKind] finds the owner. apiVersion and kind are
// the owner's, such as apps/v1 and Deployment.
func ControlledBy(apiVersion, kind string, owner *api.ObjectMeta) api.OwnerReference {
	controls := true
	return api.OwnerReference{
		APIVersion: apiVersion, Kind: kind, Name: owner.Name, UID: owner.UID, Controller: &controls,
	}
}

// handle adds a handler to the informer of a collection. It panics after [Manager.Run].
func handle[T Object](of *Collection[T], handler informer.ResourceEventHandlerFuncs[T]) {
	if _, err := of.informer.AddEventHandler(handler); err != nil {
		panic("controller: set up controllers before Manager.Run: " + err.Error())
	}
}

// Permanent returns an error that [Reconcile] returns if another pass would fail, too: the object
// is not looked at again before its next event. It returns nil for nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }
