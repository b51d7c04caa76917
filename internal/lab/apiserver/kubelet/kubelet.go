package kubelet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/queue"
	"orrery/queue/fast"
	"orrery/restclient/api"
)

// StopsAfter is the annotation by which a pod says how long its containers take to stop when they are told to:
// "kubelet.orrery/stops-after": "2s". Without it they never listen and last for the whole grace period.
const StopsAfter = "kubelet.orrery/stops-after"

// The pace of a kubelet.
const (
	heartbeat   = time.Second // looks whether nodes are lost
	leaseEvery  = 10 * time.Second
	firstRetry  = 10 * time.Millisecond
	slowRetries = 10 * time.Second
)

// Kubelet plays nodes. [New] makes one and [Kubelet.Run] runs it.
type Kubelet struct {
	config Config
	trace  *Trace
	pods   registry.Target
	nodes  []*node
	byName map[string]*node

	keys *fast.RateLimitingQueue[store.Key]

	// Only of the worker.
	turn     int                  // whose turn it is to get the next pod
	lastIP   uint32               // the last part of the last pod's address
	stopping map[store.Key]ending // pods that are being ended
}

// New returns a kubelet that does not run yet.
func New(config Config) *Kubelet {
	if config.Nodes == 0 {
		config.Nodes = 1
	}
	k := &Kubelet{
		config:   config,
		trace:    config.Trace,
		pods:     target(config.Catalog, "", "v1", "pods"),
		byName:   map[string]*node{},
		stopping: map[store.Key]ending{},
		keys: fast.NewRateLimiting(
			queue.NewItemExponentialFailureRateLimiter[store.Key](firstRetry, slowRetries), queue.Config[store.Key]{Name: "kubelet"}),
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
	return registry.Target{Definition: definition, Version: version}
}

// Run plays the nodes until ctx ends. It is called once.
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
		watch, err := k.config.Registry.Watch(k.pods, api.ListOptions{})
		for err == nil {
			select {
			case <-beat.C:
				k.beat(ctx)
			case <-watch.Wait():
				err = k.enqueue(watch)
			case <-ctx.Done():
				return
			}
		}
		if errors.Is(err, registry.ErrEnded) {
			return // there are no pods in this cluster any more
		}
	}
}

// enqueue takes what a watch has to tell at the moment. All events are alike: somebody has to look at the pod.
func (k *Kubelet) enqueue(watch *registry.Watch) error {
	for {
		events, err := watch.Next(ended)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, event := range events {
			if event.Object != nil {
				k.keys.Add(event.Object.Key)
			}
		}
	}
}

// ended is a context that has ended: Next with it does not wait. The heartbeat must go on while nothing happens.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// beat looks after the nodes and claims. The pods of a node that was lost and has been found are looked at again.
func (k *Kubelet) beat(ctx context.Context) {
	for _, n := range k.nodes {
		if found := n.beat(ctx); found {
			k.enqueueAll()
		}
	}
	k.releaseClaims(ctx)
}

func (k *Kubelet) enqueueAll() {
	page, err := k.config.Registry.List(k.pods, api.ListOptions{})
	if err != nil {
		return
	}
	for _, pod := range page.Items {
		k.keys.Add(pod.Key)
	}
}

// work looks at one pod after the other.
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
			k.trace.failed(key.Namespace, key.Name, err)
			k.keys.AddRateLimited(key)
		}
		k.keys.Done(key)
	}
}

func writeOptions(user string) registry.WriteOptions { return registry.WriteOptions{User: user} }
