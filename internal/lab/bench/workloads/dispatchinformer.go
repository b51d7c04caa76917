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

// Designs returns all designs of this project.
func Designs() []Design { return []Design{DesignFast, DesignTextbook, DesignCoalescing} }

// DispatchSubjects returns informers of all designs.
func DispatchSubjects() []DispatchSubject {
	var subjects []DispatchSubject
	for _, design := range Designs() {
		subjects = append(subjects, Dispatch(design))
	}
	return subjects
}

// gearsOf returns the gears of a design.
func gearsOf[T any](design Design) informer.Gears[T] {
	gears := fast.Gears[T]()
	switch design {
	case DesignTextbook:
		return informer.Gears[T]{}
	case DesignCoalescing:
		gears.NewProcessor = fast.NewCoalescingProcessor[T]
	}
	return gears
}

// Dispatch returns this project's informer with the given design.
func Dispatch(design Design) DispatchSubject { return ourDispatch{design} }

type ourDispatch struct{ design Design }

func (o ourDispatch) Name() string { return string(o.design) }

func (o ourDispatch) Merges() bool { return o.design == DesignCoalescing }

func (o ourDispatch) New(kind Kind) DispatchInformer {
	if kind == Pods {
		return newOurs(o.design, func(obj *api.Pod) *api.ObjectMeta { return &obj.ObjectMeta })
	}
	return newOurs(o.design, func(obj *api.PartialObjectMetadata) *api.ObjectMeta { return &obj.ObjectMeta })
}

// typedInformer is an informer of *O whose watch is a channel.
type typedInformer[O any, T interface {
	*O
	informer.Object
}] struct {
	head     func(T) *api.ObjectMeta
	informer *informer.SharedIndexInformer[T]
	listed   []State
	events   chan api.WatchEvent[T]

	registrations []*informer.Registration
	cancel        context.CancelFunc
	running       sync.WaitGroup
}

func newOurs[O any, T interface {
	*O
	informer.Object
}](design Design, head func(T) *api.ObjectMeta) *typedInformer[O, T] {
	o := &typedInformer[O, T]{head: head}
	o.informer = informer.NewSharedIndexInformer(o, informer.Config[T]{
		Name:     "bench",
		Gears:    gearsOf[T](design),
		Indexers: indexer.Indexers[T]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[T]},
	})
	return o
}

func (o *typedInformer[O, T]) Decode(document []byte) (State, error) {
	obj := T(new(O))
	return obj, json.Unmarshal(document, obj)
}

func (o *typedInformer[O, T]) As(state State, version string) State {
	copied := *state.(T)
	o.head(&copied).ResourceVersion = version
	return T(&copied)
}

func (o *typedInformer[O, T]) AddHandler(h Handler) error {
	r, err := o.informer.AddEventHandler(handlerAdapter[T]{h})
	if err == nil {
		o.registrations = append(o.registrations, r)
	}
	return err
}

func (o *typedInformer[O, T]) Start(listed []State, buffer int) error {
	o.listed = listed
	o.events = make(chan api.WatchEvent[T], buffer)
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	o.running.Go(func() { _ = o.informer.Run(ctx) })
	<-o.informer.Synced()
	for _, r := range o.registrations {
		<-r.Synced()
	}
	return nil
}

func (o *typedInformer[O, T]) Send(state State) {
	o.events <- api.WatchEvent[T]{Type: api.WatchModified, Object: state.(T)}
}

func (o *typedInformer[O, T]) Versions() map[string]string {
	out := make(map[string]string, o.informer.GetIndexer().Len())
	for _, obj := range o.informer.GetIndexer().List() {
		key, _ := informer.MetaNamespaceKeyFunc(obj) // it is in the store, so it has a key
		out[key] = obj.GetResourceVersion()
	}
	return out
}

func (o *typedInformer[O, T]) Stop() {
	o.cancel()
	o.running.Wait()
}

// IsWatchListSemanticsUnSupported reports true: the informer starts with List.
func (o *typedInformer[O, T]) IsWatchListSemanticsUnSupported() bool { return true }

// List returns the initial list.
func (o *typedInformer[O, T]) List(context.Context, api.ListOptions) (*api.List[T], error) {
	list := &api.List[T]{}
	list.ResourceVersion = "1"
	for _, state := range o.listed {
		list.Items = append(list.Items, state.(T))
	}
	return list, nil
}

// Watch returns the channel as a watch. It is called once.
func (o *typedInformer[O, T]) Watch(context.Context, api.ListOptions) (api.Watcher[T], error) {
	return channelWatcher[T]{events: o.events, stop: sync.OnceFunc(func() { close(o.events) })}, nil
}

// channelWatcher is the channel as a pull-based watch. Nothing is sent after Stop.
type channelWatcher[T any] struct {
	events <-chan api.WatchEvent[T]
	stop   func()
}

func (w channelWatcher[T]) Next() (api.WatchEvent[T], error) {
	event, ok := <-w.events
	if !ok {
		return api.WatchEvent[T]{}, context.Canceled
	}
	return event, nil
}

func (w channelWatcher[T]) Stop() { w.stop() }

// handlerAdapter translates callbacks.
type handlerAdapter[T informer.Object] struct{ handler Handler }

func identityOf[T informer.Object](obj T) Identity {
	return Identity{Namespace: obj.GetNamespace(), Name: obj.GetName(), ResourceVersion: obj.GetResourceVersion()}
}

func (h handlerAdapter[T]) OnAdd(obj T, _ bool) { h.handler.OnAdd(identityOf(obj)) }

func (h handlerAdapter[T]) OnUpdate(old, obj T) {
	if h.handler.Counted() {
		return
	}
	h.handler.OnUpdate(old.GetResourceVersion(), identityOf(obj))
}

func (h handlerAdapter[T]) OnDelete(d informer.DeletedObject[T]) {
	h.handler.OnDelete(identityOf(d.Object))
}
