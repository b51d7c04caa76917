package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"orrery/examples/garbagecollector"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// collectGarbage runs the garbage collector until ctx ends. The fault collector-stopped ends it at
// its next write, and it starts anew after the fault.
func (s *Server) collectGarbage(ctx context.Context) {
	for ctx.Err() == nil {
		run, stop := context.WithCancel(ctx)
		s.newCollector(stop).RunWithin(run, run)
		stop()
		for ctx.Err() == nil && s.faults.Active(faults.CollectorStopped) {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}
}

// errCollectorStopped is the fault collector-stopped.
var errCollectorStopped = errors.New("the garbage collector is stopped")

// newCollector returns the garbage collector, which works on the registry directly and not over
// HTTP. It appears in no request counts or traces, and of the faults only those of admission and
// collector-stopped affect it. stop ends its run.
func (s *Server) newCollector(stop context.CancelFunc) *garbagecollector.Controller {
	return garbagecollector.NewController(garbagecollector.Config{
		Discovery: local{s},
		Heads: func(resource api.GroupVersionResource, namespace string) garbagecollector.Heads {
			return heads{server: s, resource: resource, namespace: namespace, stop: stop}
		},
		DiscoveryPeriod: time.Hour, // a new type comes with a CustomResourceDefinition, which is watched
	})
}

// collectorUser is the user name of the collector.
const collectorUser = "system:serviceaccount:kube-system:generic-garbage-collector"

// local implements discovery for the collector.
type local struct{ server *Server }

// ServerGroupsAndResources returns the resource lists of the catalog, and no groups.
func (l local) ServerGroupsAndResources(context.Context) ([]*api.APIGroup, []*api.APIResourceList, error) {
	var lists []*api.APIResourceList
	for _, group := range l.server.catalog.Groups() {
		for _, version := range group.Versions {
			list := resourceList(api.GroupVersion{Group: group.Name, Version: version.Version}, version)
			lists = append(lists, &list)
		}
	}
	return nil, lists, nil
}

// heads reads and writes the metadata of a resource's objects in the registry.
type heads struct {
	server    *Server
	resource  api.GroupVersionResource
	namespace string
	stop      context.CancelFunc
}

// mayWrite returns an error, and ends the collector, while the fault collector-stopped is active.
func (h heads) mayWrite() error {
	if !h.server.faults.Active(faults.CollectorStopped) {
		return nil
	}
	h.stop()
	return errCollectorStopped
}

func (h heads) target(name string) (registry.Target, error) {
	d, ok := h.server.catalog.Lookup(h.resource)
	if !ok {
		return registry.Target{}, resources.ResourceNotFound()
	}
	return registry.Target{Definition: d, Namespace: h.namespace, Name: name}, nil
}

func headOf(d *resources.Definition, o *store.Object) *api.PartialObjectMetadata {
	head := &api.PartialObjectMetadata{TypeMeta: api.TypeMeta{Kind: d.Kind}}
	if err := json.Unmarshal(o.Metadata(), &head.ObjectMeta); err != nil { // encoded by the store
		panic(err)
	}
	return head
}

func (h heads) Get(_ context.Context, name string, opts api.GetOptions) (*api.PartialObjectMetadata, error) {
	t, err := h.target(name)
	if err != nil {
		return nil, err
	}
	o, err := h.server.registry.Get(t, opts)
	if err != nil {
		return nil, err
	}
	return headOf(t.Definition, o), nil
}

func (h heads) List(_ context.Context, opts api.ListOptions) (*api.List[*api.PartialObjectMetadata], error) {
	t, err := h.target("")
	if err != nil {
		return nil, err
	}
	page, err := h.server.registry.List(t, opts)
	if err != nil {
		return nil, err
	}
	list := &api.List[*api.PartialObjectMetadata]{}
	list.ResourceVersion, list.Continue = strconv.FormatUint(page.Version, 10), page.Continue
	for _, o := range page.Items {
		list.Items = append(list.Items, headOf(t.Definition, o))
	}
	return list, nil
}

func (h heads) Delete(ctx context.Context, name string, opts api.DeleteOptions) error {
	if err := h.mayWrite(); err != nil {
		return err
	}
	t, err := h.target(name)
	if err != nil {
		return err
	}
	_, _, err = h.server.registry.Delete(ctx, t, opts, registry.WriteOptions{User: collectorUser})
	return err
}

func (h heads) Patch(ctx context.Context, name string, kind api.PatchType, body []byte, _ api.UpdateOptions,
	_ ...string) (*api.PartialObjectMetadata, error) {
	if err := h.mayWrite(); err != nil {
		return nil, err
	}
	t, err := h.target(name)
	if err != nil {
		return nil, err
	}
	o, err := h.server.registry.Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		tree, err := resources.ApplyPatch(kind, current.Object, body, nil)
		return &api.Unstructured{Object: tree}, err
	}, registry.WriteOptions{User: collectorUser, FieldManager: "kube-controller-manager"})
	if err != nil {
		return nil, err
	}
	return headOf(t.Definition, o), nil
}

func (h heads) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.PartialObjectMetadata], error) {
	t, err := h.target("")
	if err != nil {
		return nil, err
	}
	watch, err := h.server.registry.Watch(t, opts)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	return &headWatcher{definition: t.Definition, watch: watch, ctx: ctx, stop: stop}, nil
}

// HasKeepalive reports that the watch cannot lose its connection.
func (h heads) HasKeepalive() bool { return true }

// headWatcher is a watch of metadata. It ends with its resource, with the history, or by Stop.
type headWatcher struct {
	definition *resources.Definition
	watch      *registry.Watch
	ctx        context.Context
	stop       context.CancelFunc
	ready      []registry.Event
}

func (w *headWatcher) Stop() { w.stop() }

// HasKeepalive implements the same interface as heads.
func (w *headWatcher) HasKeepalive() bool { return true }

func (w *headWatcher) Next() (api.WatchEvent[*api.PartialObjectMetadata], error) {
	for len(w.ready) == 0 {
		events, more, err := w.watch.Poll()
		if refused, ok := errors.AsType[*api.StatusError](err); ok {
			return api.WatchEvent[*api.PartialObjectMetadata]{Type: api.WatchError, Status: &refused.Status}, nil
		}
		if errors.Is(err, registry.ErrEnded) {
			err = io.EOF
		}
		if err == nil && more != nil {
			select {
			case <-more:
			case <-w.ctx.Done():
				err = w.ctx.Err()
			}
		}
		if err != nil {
			return api.WatchEvent[*api.PartialObjectMetadata]{}, err
		}
		w.ready = events
	}
	event := w.ready[0]
	w.ready = w.ready[1:]
	next := api.WatchEvent[*api.PartialObjectMetadata]{
		Type: event.Type, ResourceVersion: strconv.FormatUint(event.Version, 10),
		InitialEventsEnd: event.InitialEventsEnd,
	}
	if event.Object != nil {
		next.Object = headOf(w.definition, event.Object)
	}
	return next, nil
}
