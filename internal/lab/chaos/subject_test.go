package chaos

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient"
	"orrery/restclient/api"
)

// subject is an informer of any type, with the histories of its handlers.
type subject interface {
	plan() InformerPlan
	run(ctx context.Context)
	join(h HandlerPlan) error
	leave(number int) error
	// violations returns errors that can never be corrected; differences returns everything that
	// does not match the server yet, or is still in flight.
	violations() []string
	differences(server *store.Store, definition *resources.Definition) []string
	events() int
	Snapshot() informer.Snapshot
}

// watched is a subject.
type watched[T object] struct {
	*informer.SharedIndexInformer[T]
	made  InformerPlan
	world *world

	mu       sync.Mutex // guards the fields below
	handlers []*watching
	removed  []*watching
	joined   int
}

// watching is a handler with its history.
type watching struct {
	name string
	*History
	registration *informer.Registration
	late         bool // it joined during a storm
}

// newSubject returns the planned informer of a client.
func newSubject(w *world, client *restclient.Client, p InformerPlan) (subject, error) {
	gvr := w.resource(p.Resource)
	switch {
	case p.Form == Heads:
		return watch(w, restclient.Metadata(client, gvr, ""), p)
	case p.Form == Typed && p.Resource == "namespaces":
		return watch(w, restclient.Typed[*api.Namespace](client, gvr, ""), p)
	case p.Form == Typed && p.Resource == "pods":
		return watch(w, restclient.Typed[*api.Pod](client, gvr, ""), p)
	default:
		return watch(w, restclient.Dynamic(client, gvr, ""), p)
	}
}

// watch returns a subject that observes a lister-watcher.
func watch[T object](w *world, source informer.ListerWatcher[T], p InformerPlan) (*watched[T], error) {
	if w.sabotage.stream != nil {
		source = sabotaged[T]{source, w.sabotage.stream}
	}
	s := &watched[T]{made: p, world: w}
	s.SharedIndexInformer = informer.NewSharedIndexInformer(source, informer.Config[T]{
		Name: p.Name, ResyncPeriod: p.Resync, Gears: gearsOf[T](p.Gears),
		TweakListOptions: func(opts *api.ListOptions) { opts.LabelSelector = p.Selector },
		Reflector: reflector.Config[T]{
			PageSize: p.PageSize, DisableWatchList: !p.Streaming, MinWatchTimeout: p.MinWatch,
			ListTimeout: listTimeout, InitialEventsDeadline: listTimeout,
		},
		// Decoders reuse their buffers, so no object may keep a part of one.
		MutationDetector: informer.MutationDetectorConfig{
			Enabled:    p.Detect,
			Period:     time.Minute, // a comparison of all objects takes real time
			OnMutation: func(err *informer.MutationError) { w.fail("%s: %v", p.Name, err) },
		},
	})
	for _, h := range p.Handlers {
		if err := s.add(h, false); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// listTimeout bounds a list. The default is longer than a quiet point.
const listTimeout = 40 * time.Second

func (s *watched[T]) plan() InformerPlan { return s.made }

func (s *watched[T]) run(ctx context.Context) {
	if err := s.Run(ctx); err != nil && ctx.Err() == nil {
		s.world.fail("%s: Run returned %v", s.made.Name, err)
	}
}

func (s *watched[T]) join(h HandlerPlan) error { return s.add(h, true) }

func (s *watched[T]) add(p HandlerPlan, late bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined++
	name := fmt.Sprintf("%s#%d", s.made.Name, s.joined)
	h := &watching{
		name: name, History: NewHistory(name, s.made.Selector != "", s.world.journal.wrote), late: late,
	}
	var handler informer.ResourceEventHandler[T] = &recorder[T]{history: h.History, plan: p, quiet: &s.world.quiet}
	if s.world.sabotage.handler != nil {
		handler = sabotagedHandler[T]{handler, s.world.sabotage.handler}
	}
	var err error
	h.registration, err = s.AddEventHandlerWithOptions(handler, informer.HandlerOptions{
		Name: h.name, ResyncPeriod: p.Resync, Coalescing: p.Coalescing,
	})
	if err == nil {
		s.handlers = append(s.handlers, h)
	}
	return err
}

// leave removes one of the handlers that joined late, if there are any.
func (s *watched[T]) leave(number int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := 0
	for i, h := range s.handlers {
		if !h.late {
			continue
		}
		if late++; late > number {
			s.handlers = append(s.handlers[:i:i], s.handlers[i+1:]...)
			s.removed = append(s.removed, h)
			return s.RemoveEventHandler(h.registration)
		}
	}
	return nil
}

func (s *watched[T]) violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wrong []string
	for _, h := range append(s.handlers[:len(s.handlers):len(s.handlers)], s.removed...) {
		wrong = append(wrong, h.Violations()...)
	}
	if shot := s.Snapshot(); shot.ProcessErrors > 0 || shot.Reflector.StoreErrors > 0 {
		wrong = append(wrong, fmt.Sprintf("%s: events were not applied: %v, %v", s.made.Name, shot.LastProcessError,
			shot.Reflector.LastStoreError))
	}
	return wrong
}

func (s *watched[T]) differences(server *store.Store, definition *resources.Definition) []string {
	want, err := contentOf(server, definition, s.made.Selector)
	if err != nil {
		return []string{err.Error()}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	states := map[string]State{}
	for key, o := range want {
		states[key] = State{UID: o.UID, Version: o.Version}
	}
	wrong := s.storeDiffers(states)
	for _, h := range s.handlers {
		wrong = append(wrong, h.Differences(states)...)
		if !h.registration.HasSynced() {
			wrong = append(wrong, "handler "+h.name+": has not synced")
		}
	}
	if wrong = append(wrong, s.underWay()...); len(wrong) == 0 {
		return s.fieldsDiffer(want)
	}
	return wrong
}

// underWay returns what is still in flight between the server and the handlers.
func (s *watched[T]) underWay() []string {
	shot := s.Snapshot()
	var wrong []string
	if !shot.HasSynced {
		wrong = append(wrong, s.made.Name+": has not synced")
	}
	if shot.Queued > 0 {
		wrong = append(wrong, fmt.Sprintf("%s: %d keys wait in the queue", s.made.Name, shot.Queued))
	}
	for _, h := range shot.Handlers {
		if h.Pending > 0 {
			wrong = append(wrong, fmt.Sprintf("handler %s: %d events wait for it", h.Handler, h.Pending))
		}
	}
	return wrong
}

func (s *watched[T]) events() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, h := range s.handlers {
		sum += h.Count()
	}
	for _, h := range s.removed {
		sum += h.Count()
	}
	return sum
}

// recorder is a handler that records its history and takes as long as planned.
type recorder[T object] struct {
	history *History
	plan    HandlerPlan
	quiet   *atomic.Bool // at quiet points handlers are not slow: slowness is a fault
	handled atomic.Int64
}

// OnAdd records an addition.
func (r *recorder[T]) OnAdd(o T, initial bool) {
	r.work()
	r.history.Added(keyOf(o), StateOf(o), initial)
}

// OnUpdate records an update or a resync.
func (r *recorder[T]) OnUpdate(was, is T) {
	r.work()
	r.history.Updated(keyOf(is), StateOf(was), StateOf(is))
}

// OnDelete records a deletion.
func (r *recorder[T]) OnDelete(d informer.DeletedObject[T]) {
	r.work()
	r.history.Deleted(d.Key, StateOf(d.Object), d.FinalStateUnknown)
}

// work sleeps as long as the plan says.
func (r *recorder[T]) work() {
	number := r.handled.Add(1)
	switch {
	case r.quiet.Load():
	case r.plan.StuckEvery > 0 && number%int64(r.plan.StuckEvery) == 0:
		time.Sleep(r.plan.StuckFor)
	case r.plan.Work > 0:
		time.Sleep(r.plan.Work)
	}
}

func keyOf(o informer.Object) string {
	key, _ := informer.MetaNamespaceKeyFunc(o) // every object of a server has a name
	return key
}

// contentOf returns the server's objects of a resource, by key.
func contentOf(server *store.Store, definition *resources.Definition, labels string) (map[string]*store.Object, error) {
	view, err := server.Collection(definition.Prefix).View(0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", definition.Plural, err)
	}
	label, value, _ := strings.Cut(labels, "=")
	content := map[string]*store.Object{}
	view.Ascend("", store.Key{}, func(o *store.Object) bool {
		if labels == "" || o.Labels[label] == value {
			content[o.Key.String()] = o
		}
		return true
	})
	return content, nil
}

// storeDiffers compares the versions in the informer's store with the server's.
func (s *watched[T]) storeDiffers(server map[string]State) (wrong []string) {
	have := map[string]State{}
	for _, o := range s.GetIndexer().List() {
		have[keyOf(o)] = StateOf(o)
	}
	for _, difference := range Compare(have, server) {
		wrong = append(wrong, fmt.Sprintf("store of %s: %s", s.made.Name, difference))
	}
	return wrong
}

// fieldsDiffer compares the fields in the informer's store with the server's for objects of the
// same version, as far as the informer's form has them.
func (s *watched[T]) fieldsDiffer(server map[string]*store.Object) []string {
	var wrong []string
	for key, want := range server {
		have, found := s.GetIndexer().GetByKey(key)
		if !found || StateOf(have).Version != want.Version {
			continue // it has changed since the versions were compared
		}
		if difference := differs(want, have); difference != "" {
			wrong = append(wrong, fmt.Sprintf("store of %s: %s (%s): %s", s.made.Name, key, StateOf(have), difference))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// differs compares an object with the server's object of the same version.
func differs(server *store.Object, have object) string {
	want := server.Decode()
	if !reflect.DeepEqual(want.GetLabels(), have.GetLabels()) && len(want.GetLabels())+len(have.GetLabels()) > 0 {
		return fmt.Sprintf("labels %v should be %v", have.GetLabels(), want.GetLabels())
	}
	switch have := have.(type) {
	case *api.Namespace:
		if phase := want.NestedString("status", "phase"); string(have.Status.Phase) != phase {
			return fmt.Sprintf("phase %s should be %s", have.Status.Phase, phase)
		}
	case *api.Unstructured:
		is := have.DeepCopy()
		delete(is.Object, "kind")
		delete(is.Object, "apiVersion")
		if !reflect.DeepEqual(want.Object, is.Object) {
			return fmt.Sprintf("%v should be %v", is.Object, want.Object)
		}
	}
	return ""
}

// object is the constraint of the objects in informers. All types of restclient/api satisfy it.
type object interface {
	informer.Object
	GetLabels() map[string]string
	GetUID() string
}
