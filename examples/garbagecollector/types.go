package garbagecollector

import (
	"context"
	"slices"
	"strings"

	"orrery/informer"
	"orrery/restclient/api"
)

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
	Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions,
		subresources ...string) (*api.PartialObjectMetadata, error)
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
			r := &Resource{GroupVersionResource: version.WithResource(one.Name), Kind: one.Kind,
				Namespaced: one.Namespaced}
			found.kinds[api.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: one.Kind}] = r
			if name := r.GroupResource(); !lacks("delete") && !lacks("list") && !lacks("watch") &&
				!slices.Contains(seen, name) {
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
