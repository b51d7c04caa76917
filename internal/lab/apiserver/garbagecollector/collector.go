package garbagecollector

import (
	"context"
	"errors"
	"sync"
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/queue"
	"orrery/queue/fast"
	"orrery/restclient/api"
	"orrery/wait"
)

// user is who the collector is to the server.
const user = "system:serviceaccount:kube-system:generic-garbage-collector"

const (
	firstRetry  = 5 * time.Millisecond
	slowRetries = 30 * time.Second
)

// Collector is the garbage collector. [New] makes one and [Collector.Run] runs it.
type Collector struct {
	config Config
	trace  *Trace
	graph  *graph
	items  *fast.RateLimitingQueue[item]

	watchers sync.WaitGroup
	// mu guards watched: the resources that are being watched, by their place in the store (events are in two groups).
	mu      sync.Mutex
	watched map[string]bool
}

// New returns a collector that does not run yet.
func New(config Config) *Collector {
	return &Collector{
		config: config,
		trace:  config.Trace,
		graph:  newGraph(),
		items: fast.NewRateLimiting(
			queue.NewItemExponentialFailureRateLimiter[item](firstRetry, slowRetries), queue.Config[item]{Name: "garbagecollector"}),
		watched: map[string]bool{},
	}
}

// customResources is the resource whose objects make resources.
var customResources = api.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Run collects until ctx ends. It is called once.
func (c *Collector) Run(ctx context.Context) {
	c.watchAll(ctx)
	context.AfterFunc(ctx, c.items.ShutDown)
	c.work(ctx)
	c.watchers.Wait() // none is started any more: only the worker does that, which has ended
}

// watchAll starts a watcher for each resource that has none.
func (c *Collector) watchAll(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.config.Catalog.All() {
		if c.watched[d.Prefix] || !d.HasVerb("watch") {
			continue
		}
		c.watched[d.Prefix] = true
		c.watchers.Go(func() { c.watch(ctx, d) })
	}
}

// watch looks at every object of a resource, and at every change, until ctx or the resource ends.
func (c *Collector) watch(ctx context.Context, d *resources.Definition) {
	defer func() {
		c.mu.Lock()
		delete(c.watched, d.Prefix)
		c.mu.Unlock()
	}()
	t := registry.Target{Definition: d, Version: d.Version}
	resource := resourceOf(t)
	for ctx.Err() == nil {
		watch, err := c.config.Registry.Watch(t, api.ListOptions{})
		var events []registry.Event
		for err == nil {
			for _, event := range events {
				c.observe(resource, event)
			}
			events, err = watch.Next(ctx)
		}
		// Whatever has gone unseen is found missing by whoever looks at it.
		for _, i := range c.graph.all(resource) {
			c.items.Add(i)
		}
		if errors.Is(err, registry.ErrEnded) {
			return
		}
		if !api.IsExpired(err) {
			_ = wait.Sleep(ctx, time.Second) // the resource is in the catalog and cannot be watched: it is coming, or going
		}
	}
}

// observe notes what an event says about owners and dependents, and puts into the queue who has to be looked at.
func (c *Collector) observe(resource api.GroupVersionResource, event registry.Event) {
	o := event.Object
	if o == nil {
		return
	}
	i := item{resource, o.Key}
	gone := event.Type == api.WatchDeleted
	var references []reference
	if len(o.Owners) > 0 && !gone {
		references = referencesOf(o.Decode())
	}
	before := c.graph.put(i, references)
	c.enqueueOwners(i, before, references)
	if gone || o.Deleting {
		// Those who depend on it: it is not there any more, or waits for them.
		for _, dependent := range c.graph.of(o.UID) {
			c.items.Add(dependent)
		}
	}
	if len(references) > 0 || o.Deleting || resource == customResources {
		c.items.Add(i)
	}
}

// enqueueOwners has the owners looked at that an object does not name any more, or does not hold any more: they may be
// waiting for that.
func (c *Collector) enqueueOwners(i item, before, now []reference) {
	holds := map[string]bool{}
	for _, r := range now {
		holds[r.uid] = r.blocking
	}
	for _, r := range before {
		if r.blocking && !holds[r.uid] {
			if owner, ok := c.ownerOf(i, r); ok {
				c.items.Add(owner)
			}
		}
	}
}

// ownerOf is where the owner of an object would be. It fails if there is no such kind, or if the owner would be in a
// namespace and the dependent is in none.
func (c *Collector) ownerOf(i item, r reference) (item, bool) {
	d, ok := c.config.Catalog.ByKind(r.kind)
	if !ok || d.Namespaced && i.key.Namespace == "" {
		return item{}, false
	}
	owner := item{resource: api.GroupVersionResource{Group: d.Group, Version: d.Version, Resource: d.Plural}}
	owner.key.Name = r.name
	if d.Namespaced {
		owner.key.Namespace = i.key.Namespace
	}
	return owner, true
}

func resourceOf(t registry.Target) api.GroupVersionResource {
	return api.GroupVersionResource{Group: t.Definition.Group, Version: t.Version, Resource: t.Definition.Plural}
}

// target is the item as the registry names it; ok is false if its resource is gone.
func (c *Collector) target(i item) (t registry.Target, ok bool) {
	d, ok := c.config.Catalog.Lookup(i.resource)
	return registry.Target{Definition: d, Version: i.resource.Version, Namespace: i.key.Namespace, Name: i.key.Name}, ok
}

// work looks at one item after the other until the queue is shut down.
func (c *Collector) work(ctx context.Context) {
	for {
		i, shutdown := c.items.Get()
		if shutdown {
			return
		}
		t, known := c.target(i)
		var err error
		if known {
			err = c.sync(ctx, i, t)
		} else {
			c.graph.put(i, nil)
		}
		switch {
		case err == nil:
			c.items.Forget(i)
		case ctx.Err() == nil:
			c.trace.failed(t, err)
			c.items.AddRateLimited(i)
		}
		c.items.Done(i)
	}
}
