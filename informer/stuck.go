package informer

import (
	"context"
	"sync"
	"time"

	"orrery/wait"
)

// StuckAfter is how long a callback may run before [Trace].HandlerStuck is called. A handler that only puts a key
// into a queue needs a microsecond.
const StuckAfter = time.Minute

// StuckHandler is a callback that does not return.
type StuckHandler struct {
	HandlerInfo
	Event   EventKind // what the handler was called for
	Key     string
	Running time.Duration // at least; it is looked at from time to time
	Pending int           // the events that the handler has not dealt with, this one included
}

// stuckLook is how often the watchdog looks.
const stuckLook = StuckAfter / 4

// begun is which callback a handler is in, for the watchdog. It is written only if there is one.
type begun struct {
	mu    sync.Mutex // guards what follows
	event EventKind
	key   string
	made  uint64 // the callbacks that had returned when this one began
}

func (b *begun) set(event EventKind, key string, made uint64) {
	b.mu.Lock()
	b.event, b.key, b.made = event, key, made
	b.mu.Unlock()
}

// since returns the callback that is going on if that is the one after made others.
func (b *begun) since(made uint64) (event EventKind, key string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.event, b.key, b.event != 0 && b.made == made
}

// watchdog tells of callbacks that do not return. It compares, now and then, how many callbacks of each handler have
// returned: no clock is read and no timer set for an event. So it is a look late at most, and does not tell too early.
//
// It belongs to one goroutine.
type watchdog[T any] struct {
	handlers *registry[T]
	tell     func(StuckHandler)
	watched  map[*RegisteredHandler[T]]*watchedHandler
}

type watchedHandler struct {
	returned uint64 // callbacks that had returned at the last look
	running  time.Duration
	mark     time.Duration // of running, at which it is reported next
}

// newWatchdog returns nil if there is no hook for it.
func (s *SharedIndexInformer[T]) newWatchdog() *watchdog[T] {
	if s.config.Trace.HandlerStuck == nil {
		return nil
	}
	return &watchdog[T]{handlers: &s.handlers, tell: s.config.Trace.HandlerStuck, watched: map[*RegisteredHandler[T]]*watchedHandler{}}
}

// run looks until ctx ends.
func (w *watchdog[T]) run(ctx context.Context) {
	ticker := time.NewTicker(stuckLook)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.look()
		case <-ctx.Done():
			return
		}
	}
}

// look also sees handlers that have been removed and whose last callback has not returned.
func (w *watchdog[T]) look() {
	for _, h := range w.handlers.current() {
		if w.watched[h] == nil {
			w.watched[h] = &watchedHandler{}
		}
	}
	for h, seen := range w.watched {
		if isClosed(h.registration.ended) {
			delete(w.watched, h)
			continue
		}
		w.lookAt(h, seen)
	}
}

func (w *watchdog[T]) lookAt(h *RegisteredHandler[T], seen *watchedHandler) {
	returned := h.handled.Load()
	event, key, going := h.begun.since(returned)
	if !going {
		*seen = watchedHandler{returned: returned}
		return
	}
	if seen.mark == 0 || seen.returned != returned {
		*seen = watchedHandler{returned: returned, mark: StuckAfter}
		return
	}
	if seen.running += stuckLook; seen.running >= seen.mark {
		seen.mark *= 2
		defer wait.HandleCrash()
		w.tell(StuckHandler{HandlerInfo: h.registration.info, Event: event, Key: key, Running: seen.running, Pending: h.pending()})
	}
}
