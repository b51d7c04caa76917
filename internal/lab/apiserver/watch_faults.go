package apiserver

import (
	"time"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// watchFaults applies the faults that affect the events of a watch: late and repeated events,
// withheld bookmarks, interrupted streaming lists.
type watchFaults struct {
	set     *faults.Set
	request faults.Request
	// interrupt is the number of initial events until the streaming list breaks; negative means
	// never.
	interrupt int
	// sent are the last events, oldest first, as long as a fault may repeat them.
	sent []registry.Event
}

// remembered is how many events a watch keeps to repeat.
const remembered = 64

func (x *exchange) newWatchFaults(streaming bool) watchFaults {
	t := watchFaults{set: x.server.faults, request: x.fault(), interrupt: -1}
	if streaming {
		t.interrupt = t.set.Interrupts(t.request)
	}
	return t
}

// holdPause is how often a held watch checks whether it is still held.
const holdPause = 500 * time.Millisecond

// held reports whether a fault holds the events back.
func (t *watchFaults) held() bool { return t.set.Holds(t.request) }

// next returns the channels to wait on: events, or a timer if they are held.
func next(watch *registry.Watch, held bool) (<-chan struct{}, <-chan time.Time) {
	if held {
		return nil, time.After(holdPause)
	}
	return watch.Wait(), nil
}

// withholds reports whether a fault withholds a bookmark.
func (t *watchFaults) withholds(event registry.Event) bool {
	return event.Type == api.WatchBookmark && t.set.Withholds(t.request, event.InitialEventsEnd)
}

// breaksAt reports whether a streaming list breaks before this event: after the requested number of
// events, but always before its end.
func (t *watchFaults) breaksAt(event registry.Event) bool {
	if t.interrupt < 0 {
		return false
	}
	t.interrupt--
	return t.interrupt < 0 || event.InitialEventsEnd
}

// repeat adds the frames that faults send again after an event.
func (w *watching) repeat(event registry.Event) {
	if !w.set.RepeatsEvents() {
		w.sent = nil
		return
	}
	if event.Type == api.WatchBookmark {
		return
	}
	if len(w.sent) == remembered {
		w.sent = append(w.sent[:0], w.sent[1:]...)
	}
	w.sent = append(w.sent, event)
	for _, again := range w.sent[max(0, len(w.sent)-w.set.Repeats(w.request)):] {
		w.frames.add(again)
	}
}
