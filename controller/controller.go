package controller

import (
	"context"
	"time"

	"orrery/informer"
)

// Reconcile makes one pass over an object of the local copy, also over one that has a
// DeletionTimestamp and is kept by a finalizer. The object is shared: do not change it. after is
// when to look at it again although nothing has failed; 0 means at the next event. After an error
// the pass is repeated, later each time; see [Permanent]. A conflict is such an error: the server
// refuses an Update of an outdated object, and the next pass sees the newer one. To change an
// object, change its DeepCopy. A pass may take two minutes.
type Reconcile[T Object] func(ctx context.Context, object T) (after time.Duration, err error)

// Options tune a controller. The zero value works.
type Options struct {
	// Workers is how many objects are worked on at a time. Default 5. An object is never worked on
	// twice at a time.
	Workers int
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
	pool   *Pool
	owners []func() []string // the keys that the objects of Owns name
}

// New returns a controller of the objects of a collection, which [Manager.Run] runs. name is in
// failures and in the queue's metrics.
func New[T Object](m *Manager, name string, of *Collection[T], reconcile Reconcile[T], options Options) *Controller[T] {
	if reconcile == nil {
		panic("controller: " + name + " has no Reconcile")
	}
	c := &Controller[T]{}
	store := of.informer.GetIndexer()
	handle(of, informer.ResourceEventHandlerFuncs[T]{
		AddFunc:    func(object T, _ bool) { c.queue(object) },
		UpdateFunc: func(_, object T) { c.queue(object) },
		DeleteFunc: func(deleted informer.DeletedObject[T]) { c.pool.Add(deleted.Key) },
	})
	config := m.PoolConfig(name)
	config.Workers = options.Workers
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

func (c *Controller[T]) queue(object T) {
	if key, err := informer.MetaNamespaceKeyFunc(object); err == nil {
		c.pool.Add(key)
	}
}

// Owns queues the object that owner names whenever an object of another collection changes: one
// that the controller has made, or reads. owner returns a key, namespace/name or the name of an
// object of the cluster; "" for none.
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
