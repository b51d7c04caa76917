package chaos

import (
	"context"

	"orrery/informer"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient/api"
)

// sabotage breaks a subject of a run on purpose, to show that the checks find it. The zero value
// breaks nothing.
type sabotage struct {
	// stream may drop or change an event before an informer sees it.
	stream func(kind api.WatchEventType, key string) (pass bool)
	// handler returns how often a handler gets an event.
	handler func(kind informer.EventKind, key string) (times int)
	// content wraps the client of the deleter.
	content func(nsctl.ContentClient) nsctl.ContentClient
	// queue wraps the trace that observes the queue.
	queue func(*queue.Trace[string]) *queue.Trace[string]
	// without is the name of a controller to leave out.
	without string
	// begun is called when everything is running, stopped when everything has stopped.
	begun, stopped func(*world)
}

// sabotaged is a lister-watcher that loses events.
type sabotaged[T object] struct {
	informer.ListerWatcher[T]
	pass func(api.WatchEventType, string) bool
}

func (s sabotaged[T]) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error) {
	w, err := s.ListerWatcher.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return lossy[T]{w, s.pass}, nil
}

type lossy[T object] struct {
	api.Watcher[T]
	pass func(api.WatchEventType, string) bool
}

func (l lossy[T]) Next() (api.WatchEvent[T], error) {
	for {
		event, err := l.Watcher.Next()
		changes := event.Type == api.WatchAdded || event.Type == api.WatchModified || event.Type == api.WatchDeleted
		if err != nil || !changes || l.pass(event.Type, keyOf(event.Object)) {
			return event, err
		}
	}
}

// sabotagedHandler drops events for a handler or repeats them.
type sabotagedHandler[T object] struct {
	informer.ResourceEventHandler[T]
	times func(informer.EventKind, string) int
}

func (s sabotagedHandler[T]) OnAdd(o T, initial bool) {
	for range s.times(informer.EventAdd, keyOf(o)) {
		s.ResourceEventHandler.OnAdd(o, initial)
	}
}

func (s sabotagedHandler[T]) OnUpdate(was, is T) {
	for range s.times(informer.EventUpdate, keyOf(is)) {
		s.ResourceEventHandler.OnUpdate(was, is)
	}
}

func (s sabotagedHandler[T]) OnDelete(d informer.DeletedObject[T]) {
	for range s.times(informer.EventDelete, d.Key) {
		s.ResourceEventHandler.OnDelete(d)
	}
}
