package garbagecollector

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"orrery/informer"
	"orrery/restclient/api"
)

// MonitorConfig is what [Monitors] need. Discovery, Heads, Observe, Forget and Vanished are
// required; the zero value of everything else works.
type MonitorConfig struct {
	// Discovery returns the types of the server. *discovery.Client satisfies it. Set its
	// OnlyWhenReady, or a server that is starting seems to have no custom resources.
	Discovery Discovery
	// Heads returns the client of a type in a namespace, or in all namespaces (""):
	// restclient.Metadata.
	Heads func(resource api.GroupVersionResource, namespace string) Heads
	// Informer returns the configuration of the informer of a type: its gears and hooks. Default:
	// the textbook's gears, no hooks.
	Informer func(resource api.GroupVersionResource) informer.Config[*api.PartialObjectMetadata]
	// DiscoveryPeriod is the longest time between two requests for the types. Default 30 seconds.
	DiscoveryPeriod time.Duration

	// Observe is called with a new object or a new state of one, Forget with an object that is
	// gone. Calls for one object come in the order of its changes; calls for several objects may
	// overlap.
	Observe, Forget func(r *Resource, object *api.PartialObjectMetadata)
	// Vanished is called when an informer has ended. The objects that were last observed with this
	// r cannot be seen any more, whether they exist or not. A type that gets another informer also
	// gets another r.
	Vanished func(r *Resource)
	// Discovered is called after each successful discovery. Default: none.
	Discovered func()
	// Refused is called when the server refuses to list a type or, with a zero resource, when
	// discovery fails. Default: none.
	Refused func(resource api.GroupVersionResource, err error)
}

// Discovery returns the types of the server. With a *discovery.ErrGroupDiscoveryFailed the answer
// is partial.
type Discovery interface {
	ServerGroupsAndResources(ctx context.Context) ([]*api.APIGroup, []*api.APIResourceList, error)
}

// Heads reads and writes the metadata of objects of one type.
// *restclient.Resource[*api.PartialObjectMetadata] satisfies it.
type Heads interface {
	informer.ListerWatcher[*api.PartialObjectMetadata]
	Get(ctx context.Context, name string, opts api.GetOptions) (*api.PartialObjectMetadata, error)
	Delete(ctx context.Context, name string, opts api.DeleteOptions) error
	Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions, subresources ...string) (*api.PartialObjectMetadata, error)
}

func (c MonitorConfig) withDefaults() MonitorConfig {
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

// Resource is a type of objects.
type Resource struct {
	api.GroupVersionResource
	Kind       string
	Namespaced bool
}

// types are those of a server.
type types struct {
	kinds     map[api.GroupVersionKind]*Resource     // all, in every version: owner references name them
	deletable map[api.GroupVersionResource]*Resource // whose objects can be watched and deleted, in one version of each group
}

// ignored are Events, in both groups: nothing owns them, there are many, and they expire.
var ignored = []string{"events.", "events.events.k8s.io"}

// typesOf reads the lists of a server, in which the preferred version of each group comes first.
func typesOf(lists []*api.APIResourceList) types {
	found := types{kinds: map[api.GroupVersionKind]*Resource{}, deletable: map[api.GroupVersionResource]*Resource{}}
	seen := slices.Clone(ignored)
	for _, list := range lists {
		version, err := api.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, one := range list.Resources {
			lacks := func(verb string) bool { return !slices.Contains(one.Verbs, verb) }
			if strings.Contains(one.Name, "/") || lacks("get") {
				continue
			}
			r := &Resource{GroupVersionResource: version.WithResource(one.Name), Kind: one.Kind, Namespaced: one.Namespaced}
			found.kinds[api.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: one.Kind}] = r
			if name := r.GroupResource(); !lacks("delete") && !lacks("list") && !lacks("watch") && !slices.Contains(seen, name) {
				seen = append(seen, name)
				found.deletable[r.GroupVersionResource] = r
			}
		}
	}
	return found
}

// keep copies the types of the failed groups from before.
func (t types) keep(before types, failed map[api.GroupVersion]error) {
	for kind, r := range before.kinds {
		if _, unknown := failed[r.GroupVersion()]; unknown {
			t.kinds[kind] = r
		}
	}
	for gvr, r := range before.deletable {
		if _, unknown := failed[r.GroupVersion()]; unknown {
			t.deletable[gvr] = r
		}
	}
}
