// Package kubelet simulates nodes: it schedules pods, reports that they run, and ends them.
//
// A DELETE does not remove a pod. The API server sets metadata.deletionTimestamp to the time by
// which the pod must have ended. The kubelet of the pod's node stops the containers within that
// time and then deletes the pod with a grace period of 0, which removes it. This is why the
// namespace controller deletes pods first and comes back after half a minute, and why a namespace
// hangs when a node is lost.
//
// [Kubelet] is a controller with a watch, a work queue and one worker:
//
//	no node yet              bind to the next node that may have it, like a scheduler
//	bound to our node        status Running and Ready
//	terminating              wait for the grace period, or less (see [StopsAfter])
//	grace period over        delete with a grace period of 0 and the UID as precondition
//	node lost                nothing, until the node is reachable
//
// It also renews a Lease per node and releases unused claims, which another controller does in a
// real cluster. Pods on other nodes are left alone. Failed writes are retried with growing delays.
// [Kubelet.Run] starts one goroutine for the worker, which has ended when Run returns.
package kubelet

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/queue"
	"orrery/queue/fast"
	"orrery/restclient/api"
)

// StopsAfter is the annotation that says how long a pod's containers take to stop, for example
// "kubelet.orrery/stops-after": "2s". Without it they use the whole grace period.
const StopsAfter = "kubelet.orrery/stops-after"

// The timing of the kubelet.
const (
	heartbeat   = time.Second // checks for lost nodes
	leaseEvery  = 10 * time.Second
	firstRetry  = 10 * time.Millisecond
	slowRetries = 10 * time.Second
)

// Kubelet simulates nodes. Create one with [New].
type Kubelet struct {
	config Config
	pods   registry.Target
	nodes  []*node
	byName map[string]*node

	keys *fast.RateLimitingQueue[store.Key]

	// Used by the worker only.
	turn     int                  // the node for the next pod
	lastIP   uint32               // the last part of the last pod's address
	stopping map[store.Key]ending // terminating pods
}

// New returns a kubelet; [Kubelet.Run] runs it.
func New(config Config) *Kubelet {
	if config.Nodes == 0 {
		config.Nodes = 1
	}
	k := &Kubelet{
		config:   config,
		pods:     target(config.Catalog, "", "v1", "pods"),
		byName:   map[string]*node{},
		stopping: map[store.Key]ending{},
		keys: fast.NewRateLimiting(
			queue.NewItemExponentialFailureRateLimiter[store.Key](firstRetry, slowRetries),
			queue.Config[store.Key]{Name: "kubelet"}),
	}
	for i := range config.Nodes {
		n := &node{name: "orrery-node-" + strconv.Itoa(i+1), number: i + 1, kubelet: k}
		k.nodes = append(k.nodes, n)
		k.byName[n.name] = n
	}
	return k
}

func target(catalog *resources.Catalog, group, version, plural string) registry.Target {
	definition, ok := catalog.Lookup(api.GroupVersionResource{Group: group, Version: version, Resource: plural})
	if !ok {
		panic(fmt.Sprintf("kubelet: the catalog has no %s", plural))
	}
	return registry.Target{Definition: definition}
}

// Run runs the kubelet until ctx ends. It must be called once.
func (k *Kubelet) Run(ctx context.Context) {
	for _, n := range k.nodes {
		n.register(ctx)
	}
	var worker sync.WaitGroup
	worker.Go(func() { k.work(ctx) })
	defer worker.Wait()
	defer k.keys.ShutDown()

	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for ctx.Err() == nil {
		_ = k.watch(ctx, beat.C) // it begins again when the history was compacted
	}
}

// watch follows pods and nodes until ctx or a watch ends; then it returns the error of the watch.
// A changed node may admit pods that wait.
func (k *Kubelet) watch(ctx context.Context, beat <-chan time.Time) error {
	pods, _ := k.config.Registry.Watch(k.pods, api.ListOptions{}) // without selectors it cannot be refused
	nodes, _ := k.config.Registry.Watch(k.nodeTarget(), api.ListOptions{})
	for {
		morePods, err := each(pods, func(pod *store.Object) { k.keys.Add(pod.Key) })
		if err != nil {
			return err
		}
		moreNodes, err := each(nodes, func(*store.Object) { k.enqueueAll() })
		if err != nil {
			return err
		}
		select {
		case <-beat:
			k.beat(ctx)
		case <-morePods:
		case <-moreNodes:
		case <-ctx.Done():
			return nil
		}
	}
}

// each calls f for the objects of the pending events of a watch, and returns the channel to wait
// on for more.
func each(watch *registry.Watch, f func(*store.Object)) (more <-chan struct{}, err error) {
	for {
		events, more, err := watch.Poll()
		if err != nil || more != nil {
			return more, err
		}
		for _, event := range events {
			f(event.Object)
		}
	}
}

// beat updates the nodes and claims, and enqueues all pods when a node has become reachable.
func (k *Kubelet) beat(ctx context.Context) {
	for _, n := range k.nodes {
		if found := n.beat(ctx); found {
			k.enqueueAll()
		}
	}
	k.releaseClaims(ctx)
}

func (k *Kubelet) enqueueAll() {
	page, _ := k.config.Registry.List(k.pods, api.ListOptions{}) // without options it cannot be refused
	for _, pod := range page.Items {
		k.keys.Add(pod.Key)
	}
}

// work processes one pod after the other.
func (k *Kubelet) work(ctx context.Context) {
	for {
		key, shutdown := k.keys.Get()
		if shutdown {
			return
		}
		err := k.sync(ctx, key)
		switch {
		case err == nil:
			k.keys.Forget(key)
		case ctx.Err() == nil:
			k.keys.AddRateLimited(key)
		}
		k.keys.Done(key)
	}
}

// patch changes an object as a user, if it exists.
func (k *Kubelet) patch(ctx context.Context, t registry.Target, user string,
	change func(o *api.Unstructured) error,
) error {
	_, err := k.config.Registry.Patch(ctx, t, func(o *api.Unstructured) (*api.Unstructured, error) {
		return o, change(o)
	}, writeOptions(user))
	return ignoreGone(err)
}

// writeOptions returns the options for a write by a user, with the program's name for
// managedFields.
func writeOptions(user string) registry.WriteOptions {
	options := registry.WriteOptions{User: user, FieldManager: "kubelet"}
	switch user {
	case scheduler:
		options.FieldManager = "kube-scheduler"
	case claimController:
		options.FieldManager = "kube-controller-manager"
	}
	return options
}

// Config configures a [Kubelet]. Everything but Nodes is required.
type Config struct {
	Registry *registry.Registry
	Catalog  *resources.Catalog
	// Nodes is the number of nodes; 0 means 1. They are named orrery-node-1 and so on.
	Nodes int
	// Lost reports whether a node is unreachable. It is called once a second and before every
	// action on a node.
	Lost func(node string) bool
	// Stays reports whether a pod whose containers have ended cannot be torn down. It is called
	// once a second for such a pod.
	Stays func(namespace, name string) bool
}

// node is a simulated node.
type node struct {
	kubelet *Kubelet
	name    string
	number  int

	// wasLost is written by the heartbeat.
	wasLost atomic.Bool
	// renewed is when the lease was last renewed. Used by the heartbeat only.
	renewed time.Time
}

// user returns the user name of the node's kubelet.
func (n *node) user() string { return "system:node:" + n.name }

// lost reports whether the node is unreachable. A recovered node counts as lost until the heartbeat
// has noticed, because that enqueues the waiting pods.
func (n *node) lost() bool {
	return n.wasLost.Load() || n.kubelet.config.Lost(n.name)
}

// beat notices whether the node was lost or found, and renews its lease if it is reachable.
func (n *node) beat(ctx context.Context) (found bool) {
	lost := n.kubelet.config.Lost(n.name)
	if lost != n.wasLost.Swap(lost) {
		n.report(ctx, lost)
		found = !lost
	}
	if !lost && time.Since(n.renewed) >= leaseEvery {
		n.renew(ctx)
	}
	return found
}

// register creates the node and its lease if they do not exist.
func (n *node) register(ctx context.Context) {
	// A node that exists stays, and one that cannot be created gets no pods.
	_, _ = n.kubelet.config.Registry.Create(ctx, n.kubelet.nodeTarget(), n.object(), writeOptions(n.user()))
	n.report(ctx, false)
	n.renew(ctx)
}

// report updates the conditions of the node. In a real cluster the kubelet reports readiness, and
// the node lifecycle controller notices that it no longer does.
func (n *node) report(ctx context.Context, lost bool) {
	t := n.kubelet.nodeTarget()
	t.Name, t.Subresource = n.name, "status"
	_ = n.kubelet.patch(ctx, t, n.user(), func(o *api.Unstructured) error {
		return o.SetNested(nodeStatus(n, lost), "status")
	})
}

// renew renews the lease, creating it if necessary.
func (n *node) renew(ctx context.Context) {
	now := time.Now()
	t := target(n.kubelet.config.Catalog, "coordination.k8s.io", "v1", "leases")
	t.Namespace, t.Name = "kube-node-lease", n.name
	_, err := n.kubelet.config.Registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		return current, current.SetNested(microTime(now), "spec", "renewTime")
	}, writeOptions(n.user()))
	if api.IsNotFound(err) {
		_, err = n.kubelet.config.Registry.Create(ctx, t, n.lease(now), writeOptions(n.user()))
	}
	if err == nil { // otherwise the next heartbeat retries it
		n.renewed = now
	}
}

func (k *Kubelet) nodeTarget() registry.Target { return target(k.config.Catalog, "", "v1", "nodes") }
