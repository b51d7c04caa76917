package apiserver

import (
	"time"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// troubles are what faults do to the events of a watch: events that come late, twice or long after their time, bookmarks that do not
// come, a streaming list that breaks off.
type troubles struct {
	set     *faults.Set
	request faults.Request
	// interrupt is how many initial events are left until the streaming list breaks; negative: it does not.
	interrupt int
	// sent are the last events, oldest first. It is empty as long as no fault wants to see them again.
	sent []registry.Event
}

// remembered is how many events a watch keeps for being sent again.
const remembered = 64

func (x *exchange) newTroubles(streaming bool) troubles {
	t := troubles{set: x.server.faults, request: x.fault(), interrupt: -1}
	if streaming {
		t.interrupt = t.set.Interrupts(t.request)
	}
	return t
}

// holdPause is how long a watch that is held waits until it looks whether it still is.
const holdPause = 500 * time.Millisecond

// held tells whether a fault wants the watch to say nothing for now.
func (t *troubles) held() bool { return t.set.Holds(t.request) }

// next returns what to wait for: events, or if they are held the time to ask again.
func next(watch *registry.Watch, held bool) (<-chan struct{}, <-chan time.Time) {
	if held {
		return nil, time.After(holdPause)
	}
	return watch.Wait(), nil
}

// withholds tells whether an event is a bookmark that a fault keeps back.
func (t *troubles) withholds(event registry.Event) bool {
	return event.Type == api.WatchBookmark && t.set.Withholds(t.request, event.InitialEventsEnd)
}

// breaksAt tells whether a streaming list breaks before this event: after as many as were ordered, but before its end in any case.
func (t *troubles) breaksAt(event registry.Event) bool {
	if t.interrupt < 0 {
		return false
	}
	t.interrupt--
	return t.interrupt < 0 || event.InitialEventsEnd
}

// repeat adds to the frames what faults want to be sent once more after an event.
func (w *watching) repeat(event registry.Event) {
	if !w.set.TroublesEvents() {
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
	back, stale := w.set.Repeats(w.request)
	for _, again := range w.sent[max(0, len(w.sent)-back):] {
		w.frames.add(again)
	}
	if stale > 0 {
		w.frames.add(w.sent[max(0, len(w.sent)-1-stale)])
	}
}
