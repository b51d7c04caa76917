package garbagecollector

import (
	"context"
	"time"

	"orrery/examples/worker"
	"orrery/informer"
	"orrery/restclient/api"
)

// Config is what a controller needs. Discovery and Heads are required; the zero value of everything else works.
type Config struct {
	// Discovery says which types there are. *discovery.Client satisfies it; its client must have OnlyWhenReady set, or a server
	// that is starting seems to have no custom resources.
	Discovery Discovery
	// Heads returns the objects of a type in a namespace, "" for all namespaces. restclient.Metadata is what it calls.
	Heads func(resource api.GroupVersionResource, namespace string) Heads

	// Informer returns the configuration of the informer of a type: its gears and hooks. Name, Transform and WatchErrorHandler are
	// overwritten. Default: the textbook's gears and no hooks.
	Informer func(resource api.GroupVersionResource) informer.Config[*api.PartialObjectMetadata]
	// DiscoveryPeriod is how often the server is asked for new types. Default 30 seconds. After a change of a
	// CustomResourceDefinition or an APIService it is asked as well, once a second at most.
	DiscoveryPeriod time.Duration
	// Settle is for how long an object that is being deleted with Orphan or Foreground keeps its finalizer at least: the informers of
	// different types are not in step, and one may not have told yet of a dependent. Default 500 ms; negative is none.
	Settle time.Duration
	// Worker tunes queues and workers. Workers is for each of the two queues, 20 by default. Name, Reconcile, Keys and Synced are
	// the controller's and are overwritten.
	Worker worker.Config
	// Trace gets what happens. Default: none.
	Trace *Trace
}

// Discovery says which types the server has. A *discovery.ErrGroupDiscoveryFailed may come beside a partial answer.
type Discovery interface {
	ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error)
}

// Heads reads and writes the heads of the objects of one type. *restclient.Resource[*api.PartialObjectMetadata] satisfies it.
type Heads interface {
	informer.ListerWatcher[*api.PartialObjectMetadata]
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.PartialObjectMetadata, error)
	Delete(ctx context.Context, name string, opts api.DeleteOptions) error
	Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions, subresources ...string) (*api.PartialObjectMetadata, error)
}

const (
	defaultWorkers         = 20
	defaultDiscoveryPeriod = 30 * time.Second
	defaultSettle          = 500 * time.Millisecond
	// discoveryPause is how long discovery waits after a change that may be a new type: it bounds the rate, and a server needs a
	// moment until it serves the type.
	discoveryPause = time.Second
	// syncPatience is how long a type may take for its first list. Then the controller goes on without it.
	syncPatience = 30 * time.Second
)

// ignored are the types that are not watched: nothing owns Events, there are many, and they go by themselves.
var ignored = map[string]bool{"events.": true, "events.events.k8s.io": true}

// withDefaults returns the configuration with every field set that is used without a check.
func (c Config) withDefaults() Config {
	if c.Informer == nil {
		c.Informer = func(api.GroupVersionResource) informer.Config[*api.PartialObjectMetadata] {
			return informer.Config[*api.PartialObjectMetadata]{}
		}
	}
	if c.DiscoveryPeriod <= 0 {
		c.DiscoveryPeriod = defaultDiscoveryPeriod
	}
	if c.Settle == 0 {
		c.Settle = defaultSettle
	}
	if c.Worker.Workers <= 0 {
		c.Worker.Workers = defaultWorkers
	}
	c.Trace = JoinTraces(ignore, c.Trace)
	return c
}
