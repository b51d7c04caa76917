package informer

import (
	"context"
	"sync"
	"time"

	"orrery/wait"
)

// stuckAfter is how long a callback may run before [Trace].HandlerStuck is called. A handler that
// only puts a key into a queue needs a microsecond.
const stuckAfter = time.Minute

// StuckHandler describes a callback that does not return.
type StuckHandler struct {
	HandlerInfo
	Event   EventKind // the event of the callback
	Key     string
	Running time.Duration // a lower bound, because of periodic checks
	Pending int           // unprocessed events, including this one
}

// stuckLook is the interval of the watchdog's checks.
const stuckLook = stuckAfter / 4

// begun identifies a handler's running callback, for the watchdog. It is written only if there is
// one.
type begun struct {
	mu    sync.Mutex // guards the fields below
	event EventKind
	key   string
	made  uint64 // callbacks that had returned before this one
}

func (b *begun) set(event EventKind, key string, made uint64) {
	b.mu.Lock()
	b.event, b.key, b.made = event, key, made
	b.mu.Unlock()
}

// since returns the running callback if exactly made callbacks returned before it.
func (b *begun) since(made uint64) (event EventKind, key string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.event, b.key, b.event != 0 && b.made == made
}

// watchdog reports callbacks that do not return. It periodically compares the number of returned
// callbacks of each handler: no event reads a clock or sets a timer. So a report is at most one
// check late, and never early.
//
// It belongs to one goroutine.
type watchdog[T any] struct {
	handlers *registry[T]
	tell     func(StuckHandler)
	watched  map[*RegisteredHandler[T]]*watchedHandler
}

type watchedHandler struct {
	returned uint64 // callbacks that had returned at the last check
	running  time.Duration
	mark     time.Duration // running time of the next report
}

// newWatchdog returns nil if Trace.HandlerStuck is nil.
func (s *SharedIndexInformer[T]) newWatchdog() *watchdog[T] {
	if s.config.Trace.HandlerStuck == nil {
		return nil
	}
	return &watchdog[T]{handlers: &s.handlers, tell: s.config.Trace.HandlerStuck,
		watched: map[*RegisteredHandler[T]]*watchedHandler{}}
}

// run checks periodically until ctx ends.
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

// look also checks removed handlers whose last callback has not returned.
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
		*seen = watchedHandler{returned: returned, mark: stuckAfter}
		return
	}
	if seen.running += stuckLook; seen.running >= seen.mark {
		seen.mark *= 2
		defer wait.HandleCrash()
		w.tell(StuckHandler{HandlerInfo: h.registration.info, Event: event, Key: key, Running: seen.running,
			Pending: h.pending()})
	}
}
