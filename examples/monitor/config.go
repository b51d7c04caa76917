package monitor

import (
	"cmp"
	"context"
	"time"

	"orrery/informer"
	"orrery/restclient/api"
)

// Config is what monitors need. Discovery, Heads, Observe, Forget and Vanished are required; the zero value of everything else works.
type Config struct {
	// Discovery says which types there are. *discovery.Client satisfies it; set its OnlyWhenReady, or a server that is starting
	// seems to have no custom resources.
	Discovery Discovery
	// Heads returns the objects of a type in a namespace, or in all of them (""): restclient.Metadata, with a client.
	Heads func(resource api.GroupVersionResource, namespace string) Heads
	// Informer returns the configuration of the informer of a type: its gears and hooks. Default: the textbook's, none.
	Informer func(resource api.GroupVersionResource) informer.Config[*api.PartialObjectMetadata]
	// Shared adds a handler to an informer that another controller of this process has of a type, and runs; ok is false if there is
	// none. A type then has one watch, however many controllers there are. leave removes the handler and returns when it has ended.
	// Default: nothing is shared.
	Shared func(resource api.GroupVersionResource, handler informer.ResourceEventHandler[*api.PartialObjectMetadata]) (synced informer.InformerSynced, leave func(), ok bool)
	// DiscoveryPeriod is how often the server is asked for its types. Default 30 seconds.
	DiscoveryPeriod time.Duration

	// Observe takes in a new object, or a new state of one; Forget that an object is gone. They are called on the goroutines of the
	// informers: for one object in the order in which things happened, for several at the same time.
	Observe, Forget func(r *Resource, object *api.PartialObjectMetadata)
	// Vanished takes in that no object of a type can be seen any more, whether they exist or not.
	Vanished func(r *Resource)
	// Discovered is called when the server has told its types. Default: nothing.
	Discovered func()
	// Refused is called when the server does not show a type, or, if resource is zero, does not tell of types. Default: nothing.
	Refused func(resource api.GroupVersionResource, err error)
}

// Discovery says which types the server has. A *discovery.ErrGroupDiscoveryFailed may come beside a partial answer.
type Discovery interface {
	ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error)
}

// Heads reads and writes the heads of objects of one type. *restclient.Resource[*api.PartialObjectMetadata] satisfies it.
type Heads interface {
	informer.ListerWatcher[*api.PartialObjectMetadata]
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.PartialObjectMetadata, error)
	Delete(ctx context.Context, name string, opts api.DeleteOptions) error
	Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions, subresources ...string) (*api.PartialObjectMetadata, error)
}

func (c Config) withDefaults() Config {
	if c.Informer == nil {
		c.Informer = func(api.GroupVersionResource) (none informer.Config[*api.PartialObjectMetadata]) { return none }
	}
	if c.Discovered == nil {
		c.Discovered = func() {}
	}
	if c.Refused == nil {
		c.Refused = func(api.GroupVersionResource, error) {}
	}
	c.DiscoveryPeriod = cmp.Or(c.DiscoveryPeriod, 30*time.Second)
	return c
}
