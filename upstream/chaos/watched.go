package chaos

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/informer"
	"orrery/informer/fast"
	"orrery/informer/reflector"
	"orrery/internal/lab/chaos/history"
	"orrery/restclient"
)

// watched is an informer of any type, with its handlers.
type watched interface {
	name() string
	resource() schema.GroupVersionResource
	// join adds a handler.
	join(options informer.HandlerOptions, slow time.Duration) error
	// leave removes the latest handler and waits for its end.
	leave(ctx context.Context) error
	// compare describes the differences from the server in the store and in each handler's history.
	compare(want map[string]history.State) []string
	// faults describes the violations at any time.
	faults() []string
	snapshot() informer.Snapshot
	counts() (events, tombstones int)
	run(ctx context.Context) error
}

// handler is one of a watched informer.
type handler struct {
	name         string
	history      *history.History
	calls        calls
	tombstones   atomic.Int64
	registration *informer.Registration
	left         bool
}

// watching is a watched informer of objects of type T.
type watching[T history.Object] struct {
	shared *informer.SharedIndexInformer[T]
	gvr    schema.GroupVersionResource

	mu       sync.Mutex // guards the field below
	handlers []*handler
}

// watch returns a new informer of a resource. Its back-off is shorter than usual, so that it
// recovers soon after a fault.
func watch[T history.Object](name string, resource *restclient.Resource[T], config informer.Config[T]) watched {
	gvr := resource.GroupVersionResource()
	config.Name = name
	config.Gears = fast.Gears[T]()
	config.Reflector.Backoff = reflector.BackoffConfig{Max: longestBackOff}
	return &watching[T]{
		shared: informer.NewSharedIndexInformer(resource, config),
		gvr:    schema.GroupVersionResource{Group: gvr.Group, Version: gvr.Version, Resource: gvr.Resource},
	}
}

// longestBackOff is the observed informers' limit, before jitter doubles it.
const longestBackOff = 4 * time.Second

func (w *watching[T]) name() string                          { return w.shared.Name() }
func (w *watching[T]) resource() schema.GroupVersionResource { return w.gvr }
func (w *watching[T]) snapshot() informer.Snapshot           { return w.shared.Snapshot() }
func (w *watching[T]) run(ctx context.Context) error         { return w.shared.Run(ctx) }

func (w *watching[T]) join(options informer.HandlerOptions, slow time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	options.Name = fmt.Sprintf("%d (coalescing: %t)", len(w.handlers), options.Coalescing)
	h := &handler{name: options.Name, history: history.New(w.name()+" "+options.Name, false, nil)}
	// tell may be slow: no other callback of the handler may run meanwhile.
	tell := func(hear func()) {
		h.calls.enter()
		defer h.calls.leave()
		hear()
		if slow > 0 {
			time.Sleep(slow)
		}
	}
	var err error
	h.registration, err = w.shared.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[T]{
		AddFunc: func(obj T, initial bool) {
			tell(func() { h.history.Added(keyOf(obj), history.StateOf(obj), initial) })
		},
		UpdateFunc: func(old, obj T) {
			tell(func() { h.history.Updated(keyOf(obj), history.StateOf(old), history.StateOf(obj)) })
		},
		DeleteFunc: func(d informer.DeletedObject[T]) {
			tell(func() { h.history.Deleted(d.Key, history.StateOf(d.Object), d.FinalStateUnknown) })
			if d.FinalStateUnknown {
				h.tombstones.Add(1)
			}
		},
	}, options)
	if err != nil {
		return fmt.Errorf("%s: add a handler: %w", w.name(), err)
	}
	w.handlers = append(w.handlers, h)
	return nil
}

func (w *watching[T]) leave(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.handlers[len(w.handlers)-1]
	h.left = true
	if err := w.shared.ShutDownEventHandler(ctx, h.registration); err != nil {
		return fmt.Errorf("%s: remove handler %s: %w", w.name(), h.name, err)
	}
	return nil
}

func keyOf(obj informer.Object) string {
	key, _ := informer.MetaNamespaceKeyFunc(obj)
	return key
}

func (w *watching[T]) compare(want map[string]history.State) []string {
	have := map[string]history.State{}
	for _, obj := range w.shared.GetIndexer().List() {
		have[keyOf(obj)] = history.StateOf(obj)
	}
	found := label(w.name()+", store: ", history.Compare(have, want))
	for _, h := range w.present() {
		found = append(found, h.history.Differences(want)...)
		if !h.registration.HasSynced() {
			found = append(found, fmt.Sprintf("%s, handler %s: has not synced", w.name(), h.name))
		}
	}
	return found
}

// present returns the handlers that have not left.
func (w *watching[T]) present() []*handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.handlers), func(h *handler) bool { return h.left })
}

func (w *watching[T]) all() []*handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.handlers)
}

func (w *watching[T]) faults() []string {
	var found []string
	for _, h := range w.all() {
		found = append(found, h.history.Violations()...)
		if h.calls.overlapped() {
			found = append(found, fmt.Sprintf("%s, handler %s: two callbacks ran at the same time", w.name(), h.name))
		}
	}
	shot := w.snapshot()
	if shot.ProcessErrors > 0 {
		found = append(found, fmt.Sprintf("%s: %d events were not applied: %v", w.name(), shot.ProcessErrors, shot.LastProcessError))
	}
	if shot.Reflector.StoreErrors > 0 {
		found = append(found, fmt.Sprintf("%s: %d events were not stored: %v", w.name(), shot.Reflector.StoreErrors, shot.Reflector.LastStoreError))
	}
	return found
}

func (w *watching[T]) counts() (events, tombstones int) {
	for _, h := range w.all() {
		events, tombstones = events+h.history.Count(), tombstones+int(h.tombstones.Load())
	}
	return events, tombstones
}

// mostViolations bounds a report: most violations repeat.
const mostViolations = 20

// label prefixes each line, and omits some of many.
func label(prefix string, lines []string) []string {
	if len(lines) > mostViolations {
		lines = append(lines[:mostViolations:mostViolations], "...")
	}
	for i := range lines {
		lines[i] = prefix + lines[i]
	}
	return lines
}

// calls detects a callback that begins before another one has ended.
type calls struct {
	running atomic.Int32
	wrong   atomic.Bool
}

func (c *calls) enter() {
	if c.running.Add(1) > 1 {
		c.wrong.Store(true)
	}
}

func (c *calls) leave() { c.running.Add(-1) }

func (c *calls) overlapped() bool { return c.wrong.Load() }
