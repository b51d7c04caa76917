package registry

import (
	"errors"
	"fmt"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// initialBatch is the maximal number of initial events that Poll returns at once.
const initialBatch = 500

// Watch is one watch of a collection. It must be used by one goroutine at a time and need not be
// closed. It buffers nothing: it is a position in the initial list and then in the store's window
// of events.
type Watch struct {
	selected selection
	cursor   *store.Cursor
	// after is the version up to which events are skipped.
	after uint64
	// err is returned before anything else.
	err error

	// initial is the list of initial objects, nil when all were returned. last is the key of the
	// last one returned. bookmark asks for a bookmark after them.
	initial  *store.View
	last     store.Key
	bookmark bool
}

// Watch starts a watch. With resourceVersion "" or "0" it first sends the present objects as ADDED
// events. With version N it starts after N. With sendInitialEvents a bookmark ends the initial
// events if the client accepts bookmarks (KEP-3157).
//
// An error is the answer to the request. Later errors, among them a version that is too old, are
// returned by [Watch.Poll], because kube-apiserver has answered 200 by then.
func (r *Registry) Watch(t Target, o api.ListOptions) (*Watch, error) {
	return r.WatchFrom(t, o, false)
}

// WatchFrom is Watch. withoutState stands for an explicit sendInitialEvents=false: even without a
// version it sends no initial events.
func (r *Registry) WatchFrom(t Target, o api.ListOptions, withoutState bool) (*Watch, error) {
	selected, err := t.selects(o, checkWatchOptions(o, withoutState))
	if err != nil {
		return nil, err
	}
	asked, err := queryVersion(o.ResourceVersion)
	if err != nil {
		return nil, resources.Unclassified(err.Error())
	}
	w := &Watch{selected: selected}
	switch {
	case !withoutState && (o.SendInitialEvents || o.ResourceVersion == "" || o.ResourceVersion == "0"):
		err = r.watchFromState(t, w, asked, o)
	case asked == 0:
		err = r.watchFrom(t, w, r.store.Version())
	default:
		err = r.watchFrom(t, w, asked)
	}
	if errors.Is(err, store.ErrDropped) {
		return nil, resources.ResourceNotFound()
	}
	w.err = watchError(err)
	return w, nil
}

func (r *Registry) watchFromState(t Target, w *Watch, atLeast uint64, o api.ListOptions) (err error) {
	view, err := r.collection(t).View(0)
	if err != nil {
		return err
	}
	if atLeast > view.Version() {
		return resources.TooLargeVersion(atLeast, view.Version())
	}
	w.initial = view
	w.bookmark = o.SendInitialEvents && o.AllowWatchBookmarks
	w.cursor, err = r.collection(t).Watch(view.Version())
	return err
}

// watchFrom starts after a version, which may be in the future.
func (r *Registry) watchFrom(t Target, w *Watch, after uint64) (err error) {
	w.after = after
	w.cursor, err = r.collection(t).Watch(after)
	if future, ok := errors.AsType[*store.FutureError](err); ok {
		w.cursor, err = r.collection(t).Watch(future.Current)
	}
	return err
}

// watchError converts an error of the store for the watcher.
func watchError(err error) error {
	if expired, ok := errors.AsType[*store.ExpiredError](err); ok {
		return resources.Expired(fmt.Sprintf("too old resource version: %d (%d)", expired.Version, expired.Oldest))
	}
	if errors.Is(err, store.ErrDropped) {
		return ErrEnded
	}
	return err
}

// Poll returns the next events. If there are none it returns a channel that is closed when there
// may be some.
//
// A [*api.StatusError] is to be sent as an ERROR event; [ErrEnded] ends the watch without one.
func (w *Watch) Poll() ([]Event, <-chan struct{}, error) {
	if w.err != nil {
		return nil, nil, w.err
	}
	if w.initial != nil {
		if events := w.nextInitial(); len(events) > 0 {
			return events, nil, nil
		}
	}
	for {
		changes, more, err := w.cursor.Poll()
		if err != nil || len(changes) == 0 {
			return nil, more, watchError(err)
		}
		if events := w.translate(changes); len(events) > 0 {
			return events, nil, nil
		}
	}
}

// nextInitial returns a batch of initial objects, and the bookmark after the last one.
func (w *Watch) nextInitial() []Event {
	var events []Event
	w.initial.Ascend(w.selected.namespace, w.last, func(o *store.Object) bool {
		if w.selected.matches(o) {
			events = append(events, Event{Type: api.WatchAdded, Object: o, Version: o.Version})
		}
		w.last = o.Key
		return len(events) < initialBatch
	})
	if len(events) == initialBatch {
		return events
	}
	if w.bookmark {
		events = append(events, Event{Type: api.WatchBookmark, Version: w.initial.Version(), InitialEventsEnd: true})
	}
	w.initial = nil
	return events
}

// translate converts changes of the collection to events of the selection: an object that starts to
// match is added, one that no longer matches is deleted.
func (w *Watch) translate(changes []store.Event) []Event {
	var events []Event
	for _, change := range changes {
		version := change.Version()
		if version <= w.after {
			continue
		}
		is := change.Type != api.WatchDeleted && w.selected.matches(change.Object)
		was := change.Previous != nil && w.selected.matches(change.Previous)
		event := Event{Object: change.Object, Version: version}
		switch {
		case is && was:
			event.Type = api.WatchModified
		case is:
			event.Type = api.WatchAdded
		case was && change.Type == api.WatchDeleted:
			event.Type = api.WatchDeleted
		case was:
			event.Type, event.Object = api.WatchDeleted, change.Previous.At(version)
		default:
			continue
		}
		events = append(events, event)
	}
	return events
}

// Progress returns a version up to which Poll has returned every change, and whether it is the
// latest, so that a bookmark may be sent.
func (w *Watch) Progress() (version uint64, upToDate bool) {
	if w.err != nil || w.initial != nil {
		return 0, false
	}
	version, upToDate = w.cursor.Progress()
	return max(version, w.after), upToDate
}

// checkWatchOptions returns the forbidden combinations of watch options. withoutState is an
// explicit sendInitialEvents=false.
func checkWatchOptions(o api.ListOptions, withoutState bool) (wrong resources.Errors) {
	explicit := o.SendInitialEvents || withoutState
	switch {
	case explicit && o.ResourceVersionMatch != api.MatchNotOlderThan:
		wrong.Forbidden(matchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	case !explicit && o.ResourceVersionMatch != "":
		wrong.Forbidden(matchField, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
	}
	// A watch without a version implies initial events, and therefore a match.
	matches := o.ResourceVersionMatch != "" || o.ResourceVersion == "" || o.ResourceVersion == "0"
	if o.Continue != "" && matches {
		wrong.Forbidden(matchField, "resourceVersionMatch is forbidden when continue is provided")
	}
	if o.ResourceVersionMatch != "" && o.ResourceVersionMatch != api.MatchNotOlderThan {
		wrong.Add(resources.FieldNotSupported, matchField, string(o.ResourceVersionMatch),
			`supported values: "NotOlderThan"`)
	}
	return wrong
}

// Event is one event of a watch.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED or BOOKMARK.
	Type api.WatchEventType
	// Object is the state after the change. For DELETED it is the last state with the version of
	// the deletion. It is shared and must not be changed. It is nil for bookmarks.
	Object *store.Object
	// Version is the position to resume from: the version of the change or bookmark, or of the
	// object for initial events.
	Version uint64
	// InitialEventsEnd marks the bookmark that ends the initial events (annotation
	// k8s.io/initial-events-end).
	InitialEventsEnd bool
}

// ErrEnded ends a watch whose resource was removed.
var ErrEnded = errors.New("registry: the watch has ended, its resource was removed")
