package gate

import (
	"context"
	"time"

	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient/api"
)

// WorkQueue is the constructor of a work queue, as nsctl.Config and worker.Config have it.
type WorkQueue = func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]

// HoldQueue returns a constructor of work queues with gates: G5 after Get, G7 before Done. name
// names the queue in items.
func HoldQueue(g *Gates, name string, newQueue WorkQueue) WorkQueue {
	if g == nil {
		return newQueue
	}
	return func(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
		g.wire(G5, G7)
		return &heldQueue{newQueue(limiter, config), newLine(context.Background(), g, name)}
	}
}

type heldQueue struct {
	queue.ObservableInterface[string]
	*line
}

func (q *heldQueue) Get() (key string, shutdown bool) {
	key, shutdown = q.ObservableInterface.Get()
	if !shutdown {
		q.hold(Item{Gate: G5, Key: key, Failures: q.NumRequeues(key)})
	}
	return key, shutdown
}

func (q *heldQueue) Done(key string) {
	q.hold(Item{Gate: G7, Key: key, Failures: q.NumRequeues(key)})
	q.ObservableInterface.Done(key)
}

// ShutDown ends all waiting: the workers have to end.
func (q *heldQueue) ShutDown() {
	q.end()
	q.ObservableInterface.ShutDown()
}

// ShutDownWithDrain ends all waiting: a key that waits would never be done.
func (q *heldQueue) ShutDownWithDrain() {
	q.end()
	q.ObservableInterface.ShutDownWithDrain()
}

// HoldDeleter returns the configuration of a deleter whose requests wait at G6.
func HoldDeleter(g *Gates, config nsctl.DeleterConfig) nsctl.DeleterConfig {
	if g == nil {
		return config
	}
	g.wire(G6)
	config.Namespaces = heldNamespaces{config.Namespaces, g}
	config.Content = heldContent{config.Content, g}
	config.Discovery = heldDiscovery{config.Discovery, g}
	return config
}

type heldNamespaces struct {
	nsctl.NamespaceClient
	gates *Gates
}

func (c heldNamespaces) wait(ctx context.Context, verb, name string) {
	c.gates.hold(ctx, Item{Gate: G6, Verb: verb, Key: name, Resource: "namespaces"})
}

func (c heldNamespaces) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error) {
	c.wait(ctx, "get", name)
	return c.NamespaceClient.Get(ctx, name, opts)
}

func (c heldNamespaces) UpdateStatus(
	ctx context.Context, namespace *api.Namespace, opts api.UpdateOptions,
) (*api.Namespace, error) {
	c.wait(ctx, "update", namespace.Name)
	return c.NamespaceClient.UpdateStatus(ctx, namespace, opts)
}

func (c heldNamespaces) UpdateSubresource(
	ctx context.Context, name, subresource string, namespace *api.Namespace, opts api.UpdateOptions,
) (*api.Namespace, error) {
	c.wait(ctx, "update", name)
	return c.NamespaceClient.UpdateSubresource(ctx, name, subresource, namespace, opts)
}

type heldContent struct {
	nsctl.ContentClient
	gates *Gates
}

func (c heldContent) wait(ctx context.Context, verb, key string, gvr api.GroupVersionResource) {
	c.gates.hold(ctx, Item{Gate: G6, Verb: verb, Key: key, Resource: gvr.Resource})
}

func (c heldContent) DeleteCollection(
	ctx context.Context, gvr api.GroupVersionResource, namespace string,
) (found []*api.PartialObjectMetadata, listed bool, err error) {
	c.wait(ctx, "deletecollection", namespace, gvr)
	return c.ContentClient.DeleteCollection(ctx, gvr, namespace)
}

func (c heldContent) List(
	ctx context.Context, gvr api.GroupVersionResource, namespace string,
) ([]*api.PartialObjectMetadata, error) {
	c.wait(ctx, "list", namespace, gvr)
	return c.ContentClient.List(ctx, gvr, namespace)
}

func (c heldContent) Holders(
	ctx context.Context, gvr api.GroupVersionResource,
) (namespaces map[string]bool, complete bool, err error) {
	c.wait(ctx, "list", "", gvr)
	return c.ContentClient.Holders(ctx, gvr)
}

// Pages is held as one request.
func (c heldContent) Pages(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, each func([]*api.PartialObjectMetadata) error,
) error {
	c.wait(ctx, "list", namespace, gvr)
	return c.ContentClient.Pages(ctx, gvr, namespace, each)
}

func (c heldContent) Delete(
	ctx context.Context, gvr api.GroupVersionResource, namespace string, object *api.PartialObjectMetadata,
) error {
	c.wait(ctx, "delete", namespace+"/"+object.Name, gvr)
	return c.ContentClient.Delete(ctx, gvr, namespace, object)
}

func (c heldContent) ListPods(ctx context.Context, namespace string) ([]*api.Pod, error) {
	c.wait(ctx, "list", namespace, api.PodsResource)
	return c.ContentClient.ListPods(ctx, namespace)
}

type heldDiscovery struct {
	nsctl.Discovery
	gates *Gates
}

func (c heldDiscovery) PreferredNamespacedResources(
	ctx context.Context, notOlderThan time.Time,
) ([]*api.APIResourceList, error) {
	c.gates.hold(ctx, Item{Gate: G6, Verb: "discover"})
	return c.Discovery.PreferredNamespacedResources(ctx, notOlderThan)
}
