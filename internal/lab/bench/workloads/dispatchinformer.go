package workloads

import (
	"context"
	"encoding/json"
	"sync"

	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/fast"
	"orrery/restclient/api"
)

// Design is an implementation of the delivery from an informer to its handlers.
type Design string

const (
	// DesignTextbook is an informer of textbook gears: each handler has a pair of channels and a
	// growing buffer.
	DesignTextbook Design = "textbook"
	// DesignFast is an informer of fast gears: handlers share batches.
	DesignFast Design = "fast"
	// DesignCoalescing keeps at most one event per object and handler; the other gears are the fast
	// ones.
	DesignCoalescing Design = "coalescing"
)

// DispatchSubjects returns all designs of this project. The first is the default.
func DispatchSubjects() []DispatchSubject {
	return []DispatchSubject{DesignFast, DesignTextbook, DesignCoalescing}
}

// Name returns the name in results.
func (d Design) Name() string { return string(d) }

// Merges reports whether slow handlers may get several events as one.
func (d Design) Merges() bool { return d == DesignCoalescing }

// New returns an informer of pods with the design.
func (d Design) New() DispatchInformer {
	gears := fast.Gears[*api.Pod]()
	switch d {
	case DesignTextbook:
		gears = informer.Gears[*api.Pod]{}
	case DesignCoalescing:
		gears.NewProcessor = fast.NewCoalescingProcessor[*api.Pod]
	}
	p := &podInformer{}
	p.informer = informer.NewSharedIndexInformer(p, informer.Config[*api.Pod]{
		Name: "bench", Gears: gears,
		Indexers: indexer.Indexers[*api.Pod]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[*api.Pod]},
	})
	return p
}

// podInformer is an informer whose watch is a channel.
type podInformer struct {
	informer *informer.SharedIndexInformer[*api.Pod]
	listed   []State
	events   chan api.WatchEvent[*api.Pod]

	registrations []*informer.Registration
	cancel        context.CancelFunc
	running       sync.WaitGroup
}

func (p *podInformer) Decode(document []byte) (State, error) {
	pod := &api.Pod{}
	return pod, json.Unmarshal(document, pod)
}

func (p *podInformer) As(state State, version string) State {
	copied := *state.(*api.Pod)
	copied.ResourceVersion = version
	return &copied
}

func (p *podInformer) AddHandler(h Handler) error {
	r, err := p.informer.AddEventHandler(podHandler{h})
	if err == nil {
		p.registrations = append(p.registrations, r)
	}
	return err
}

func (p *podInformer) Start(listed []State, buffer int) error {
	p.listed = listed
	p.events = make(chan api.WatchEvent[*api.Pod], buffer)
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.running.Go(func() { _ = p.informer.Run(ctx) })
	<-p.informer.Synced()
	for _, r := range p.registrations {
		<-r.Synced()
	}
	return nil
}

func (p *podInformer) Send(state State) {
	p.events <- api.WatchEvent[*api.Pod]{Type: api.WatchModified, Object: state.(*api.Pod)}
}

func (p *podInformer) Stored() (stored []State) {
	for _, pod := range p.informer.GetIndexer().List() {
		stored = append(stored, pod)
	}
	return stored
}

func (p *podInformer) Stop() {
	p.cancel()
	p.running.Wait()
}

// IsWatchListSemanticsUnSupported reports true: the informer starts with List.
func (p *podInformer) IsWatchListSemanticsUnSupported() bool { return true }

// List returns the initial list.
func (p *podInformer) List(context.Context, api.ListOptions) (*api.List[*api.Pod], error) {
	list := &api.List[*api.Pod]{}
	list.ResourceVersion = "1"
	for _, state := range p.listed {
		list.Items = append(list.Items, state.(*api.Pod))
	}
	return list, nil
}

// Watch returns the channel as a watch. It is called once.
func (p *podInformer) Watch(context.Context, api.ListOptions) (api.Watcher[*api.Pod], error) {
	return podWatcher{events: p.events, stop: sync.OnceFunc(func() { close(p.events) })}, nil
}

// podWatcher is the channel as a pull-based watch. Nothing is sent after Stop.
type podWatcher struct {
	events <-chan api.WatchEvent[*api.Pod]
	stop   func()
}

func (w podWatcher) Next() (api.WatchEvent[*api.Pod], error) {
	event, ok := <-w.events
	if !ok {
		return event, context.Canceled
	}
	return event, nil
}

func (w podWatcher) Stop() { w.stop() }

// podHandler passes pods to a handler as states.
type podHandler struct{ handler Handler }

func (h podHandler) OnAdd(pod *api.Pod, _ bool) { h.handler.OnAdd(pod) }

func (h podHandler) OnUpdate(old, pod *api.Pod) { h.handler.OnUpdate(old, pod) }

func (h podHandler) OnDelete(d informer.DeletedObject[*api.Pod]) { h.handler.OnDelete(d.Object) }
