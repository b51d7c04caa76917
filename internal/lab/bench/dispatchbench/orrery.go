package dispatchbench

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/fast"
	"orrery/restclient/api"
)

// Design is a way in which an informer of this project brings events to handlers.
type Design string

// The designs.
const (
	// Textbook is an informer of textbook gears: each handler has a pair of channels and a growing buffer.
	Textbook Design = "textbook"
	// Fast is an informer of fast gears: handlers share batches.
	Fast Design = "fast"
	// Coalescing keeps at most one event for each object and handler; the other gears are the fast ones.
	Coalescing Design = "coalescing"
	// Bounded has a buffer of fixed size for each handler, which the informer waits for; the other gears are the fast ones.
	Bounded Design = "bounded"
)

// Designs are all of this project's.
func Designs() []Design { return []Design{Fast, Textbook, Coalescing, Bounded} }

// Subjects are informers of all designs.
func Subjects() []Subject {
	var subjects []Subject
	for _, design := range Designs() {
		subjects = append(subjects, Orrery(design))
	}
	return subjects
}

// gearsOf returns the gears of a design.
func gearsOf[T any](design Design) informer.Gears[T] {
	gears := fast.Gears[T]()
	switch design {
	case Textbook:
		return informer.Gears[T]{}
	case Coalescing:
		gears.NewProcessor = fast.NewCoalescingProcessor[T]
	case Bounded:
		gears.NewProcessor = newBounded[T]
	}
	return gears
}

// Orrery returns this project's informer with that design of dispatch.
func Orrery(design Design) Subject { return orrery{design} }

type orrery struct{ design Design }

func (o orrery) Name() string { return string(o.design) }

func (o orrery) Merges() bool { return o.design == Coalescing }

func (o orrery) New(kind Kind) (Informer, error) {
	switch kind {
	case Heads:
		return newOurs(o.design, func(obj *api.PartialObjectMetadata) *api.ObjectMeta { return &obj.ObjectMeta }), nil
	case Pods:
		return newOurs(o.design, func(obj *api.Pod) *api.ObjectMeta { return &obj.ObjectMeta }), nil
	}
	return nil, fmt.Errorf("there is no kind of objects %q", kind)
}

// ours is an informer of *O behind a channel, which is the watch.
type ours[O any, T interface {
	*O
	informer.Object
}] struct {
	head     func(T) *api.ObjectMeta
	informer *informer.SharedIndexInformer[T]
	states   []T
	listed   []int
	events   chan api.WatchEvent[T]

	registrations []*informer.Registration
	cancel        context.CancelFunc
	running       sync.WaitGroup
}

func newOurs[O any, T interface {
	*O
	informer.Object
}](design Design, head func(T) *api.ObjectMeta) *ours[O, T] {
	o := &ours[O, T]{head: head}
	o.informer = informer.NewSharedIndexInformer(o, informer.Config[T]{
		Name:     "bench",
		Gears:    gearsOf[T](design),
		Indexers: indexer.Indexers[T]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[T]},
	})
	return o
}

func (o *ours[O, T]) Load(document []byte) (int, error) {
	obj := T(new(O))
	if err := json.Unmarshal(document, obj); err != nil {
		return 0, err
	}
	return o.keep(obj), nil
}

func (o *ours[O, T]) keep(obj T) int {
	o.states = append(o.states, obj)
	return len(o.states) - 1
}

func (o *ours[O, T]) Copy(state int, id Identity) int { return o.keep(o.copyOf(state, id)) }

func (o *ours[O, T]) copyOf(state int, id Identity) T {
	source := *o.states[state]
	head := o.head(&source)
	head.Namespace, head.Name, head.ResourceVersion = id.Namespace, id.Name, id.ResourceVersion
	return Clone(T(&source))
}

func (o *ours[O, T]) AddHandler(h Handler) error {
	r, err := o.informer.AddEventHandler(ourHandler[T]{h})
	if err == nil {
		o.registrations = append(o.registrations, r)
	}
	return err
}

func (o *ours[O, T]) Start(listed []int, buffer int) error {
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

func (o *ours[O, T]) Send(state int) { o.send(o.states[state]) }

func (o *ours[O, T]) SendCopy(state int, id Identity) { o.send(o.copyOf(state, id)) }

// send leaves the event's version out: those of a script come round again, and an old version would be no news.
func (o *ours[O, T]) send(obj T) {
	o.events <- api.WatchEvent[T]{Type: api.WatchModified, Object: obj}
}

func (o *ours[O, T]) Versions() map[string]string {
	out := make(map[string]string, o.informer.GetIndexer().Len())
	for _, obj := range o.informer.GetIndexer().List() {
		key, _ := informer.MetaNamespaceKeyFunc(obj) // it is in the store, so it has one
		out[key] = obj.GetResourceVersion()
	}
	return out
}

func (o *ours[O, T]) Stop() {
	o.cancel()
	o.running.Wait()
}

// IsWatchListSemanticsUnSupported says that there is a list to begin with.
func (o *ours[O, T]) IsWatchListSemanticsUnSupported() bool { return true }

// List is the collection at the beginning.
func (o *ours[O, T]) List(context.Context, api.ListOptions) (*api.List[T], error) {
	list := &api.List[T]{}
	list.ResourceVersion = "1"
	for _, state := range o.listed {
		list.Items = append(list.Items, o.states[state])
	}
	return list, nil
}

// Watch takes from the channel. There is one watch in the life of the informer.
func (o *ours[O, T]) Watch(context.Context, api.ListOptions) (api.Watcher[T], error) {
	return ourWatcher[T]{events: o.events, stop: sync.OnceFunc(func() { close(o.events) })}, nil
}

// ourWatcher is the channel as a watch that is pulled. Nothing is sent any more when it is stopped.
type ourWatcher[T any] struct {
	events <-chan api.WatchEvent[T]
	stop   func()
}

func (w ourWatcher[T]) Next() (api.WatchEvent[T], error) {
	event, ok := <-w.events
	if !ok {
		return api.WatchEvent[T]{}, context.Canceled
	}
	return event, nil
}

func (w ourWatcher[T]) Stop() { w.stop() }

// ourHandler translates callbacks.
type ourHandler[T informer.Object] struct{ handler Handler }

func identityOf[T informer.Object](obj T) Identity {
	return Identity{Namespace: obj.GetNamespace(), Name: obj.GetName(), ResourceVersion: obj.GetResourceVersion()}
}

func (h ourHandler[T]) OnAdd(obj T, _ bool) { h.handler.OnAdd(identityOf(obj)) }

func (h ourHandler[T]) OnUpdate(old, obj T) {
	if h.handler.Counted() {
		return
	}
	h.handler.OnUpdate(old.GetResourceVersion(), identityOf(obj))
}

func (h ourHandler[T]) OnDelete(d informer.DeletedObject[T]) {
	h.handler.OnDelete(identityOf(d.Object))
}
