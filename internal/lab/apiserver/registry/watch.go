package registry

import (
	"context"
	"errors"
	"fmt"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// initialBatch is how many initial events are returned at once.
const initialBatch = 500

// Watch is a watch of a collection. One goroutine at a time uses it. It needs no closing, and nothing piles up for it: it
// is a position in the store's window of events, and in the list of initial objects before that.
type Watch struct {
	selected selection
	cursor   *store.Cursor
	// after is the version up to which nothing is told.
	after uint64
	// err is told before everything else.
	err error

	// The objects of the beginning are read from initial, which is nil when they have all been told; last is the one that
	// was told last. bookmark says that a bookmark ends them.
	initial  *store.View
	last     store.Key
	bookmark bool
}

// Watch begins a watch. Where depends on resourceVersion: "" and "0" begin with the present objects as ADDED events, a
// version N with the first change after N; sendInitialEvents makes a list of the beginning, which a bookmark ends if the
// client takes bookmarks (KEP-3157).
//
// An error is an answer instead of a watch. What goes wrong later, a version that is too old among it, is told by
// [Watch.Next], as the real server does, which has sent 200 by then.
func (r *Registry) Watch(t Target, o api.ListOptions) (*Watch, error) {
	selected, err := t.selects(o, checkWatchOptions(o, false))
	if err != nil {
		return nil, err
	}
	return r.watch(t, o, selected, o.SendInitialEvents || o.ResourceVersion == "" || o.ResourceVersion == "0")
}

// WatchChanges begins a watch that was asked for with sendInitialEvents=false: even without a version it begins with the
// next change.
func (r *Registry) WatchChanges(t Target, o api.ListOptions) (*Watch, error) {
	selected, err := t.selects(o, checkWatchOptions(o, true))
	if err != nil {
		return nil, err
	}
	return r.watch(t, o, selected, false)
}

func (r *Registry) watch(t Target, o api.ListOptions, selected selection, withState bool) (*Watch, error) {
	asked, err := queryVersion(o.ResourceVersion)
	if err != nil {
		return nil, apierrors.Unclassified(err.Error())
	}
	w := &Watch{selected: selected}
	switch {
	case withState:
		err = r.watchFromState(t, w, asked, o)
	case asked == 0:
		err = r.watchFrom(t, w, r.store.Version())
	default:
		err = r.watchFrom(t, w, asked)
	}
	if errors.Is(err, store.ErrDropped) {
		return nil, apierrors.ResourceNotFound()
	}
	w.err = watchError(err)
	return w, nil
}

// watchFromState begins with the objects of the present.
func (r *Registry) watchFromState(t Target, w *Watch, atLeast uint64, o api.ListOptions) (err error) {
	view, err := r.collection(t).View(0)
	if err != nil {
		return err
	}
	if atLeast > view.Version() {
		return apierrors.TooLargeVersion(atLeast, view.Version())
	}
	w.initial, w.after = view, view.Version()
	w.bookmark = o.SendInitialEvents && o.AllowWatchBookmarks
	w.cursor, err = r.collection(t).Watch(view.Version())
	return err
}

// watchFrom begins after a version. One that has not been written yet is waited for.
func (r *Registry) watchFrom(t Target, w *Watch, after uint64) (err error) {
	w.after = after
	w.cursor, err = r.collection(t).Watch(after)
	if future, ok := errors.AsType[*store.FutureError](err); ok {
		w.cursor, err = r.collection(t).Watch(future.Current)
	}
	return err
}

// watchError words what the store says for the watcher.
func watchError(err error) error {
	if expired, ok := errors.AsType[*store.ExpiredError](err); ok {
		return apierrors.Expired(fmt.Sprintf("too old resource version: %d (%d)", expired.Version, expired.Oldest))
	}
	if errors.Is(err, store.ErrDropped) {
		return ErrEnded
	}
	return err
}

// Next returns the events that come next, at least one; it waits for them until ctx ends, whose error it then returns. What
// is there already is returned all the same, so that a call with a context that has ended does not wait.
// A [*api.StatusError] is to be told the watcher as an ERROR event, [ErrEnded] ends the watch without a word.
func (w *Watch) Next(ctx context.Context) ([]Event, error) {
	if w.err != nil {
		return nil, w.err
	}
	if w.initial != nil {
		if events := w.nextInitial(); len(events) > 0 {
			return events, nil
		}
	}
	for {
		changes, err := w.cursor.Next(ctx)
		if err != nil {
			return nil, watchError(err)
		}
		if events := w.translate(changes); len(events) > 0 {
			return events, nil
		}
	}
}

// nextInitial returns some of the objects of the beginning, and after the last of them the bookmark.
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

// translate makes what this watcher sees of the changes of the collection: an object that begins to match the selection is
// added to it, one that ceases to match is deleted from it.
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

// Wait returns a channel that is closed when there is something for Next, if only an event that this watcher does not
// select. Ask for a new one each time.
func (w *Watch) Wait() <-chan struct{} {
	if w.err != nil || w.initial != nil {
		return ready
	}
	return w.cursor.Wait()
}

// ready is what there is to wait for if there is nothing to wait for.
var ready = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Progress returns a version such that every change up to it has been returned by Next, and whether there is nothing
// more at the moment: then a bookmark may say so.
func (w *Watch) Progress() (version uint64, upToDate bool) {
	if w.err != nil || w.initial != nil {
		return 0, false
	}
	version, upToDate = w.cursor.Progress()
	return max(version, w.after), upToDate
}

// checkWatchOptions says which combinations a watch must not have. withoutState is an explicit sendInitialEvents=false.
func checkWatchOptions(o api.ListOptions, withoutState bool) []apierrors.FieldError {
	const match = "resourceVersionMatch"
	var errs []apierrors.FieldError
	forbid := func(detail string) {
		errs = append(errs, apierrors.FieldError{Type: apierrors.FieldForbidden, Field: match, Detail: detail})
	}
	explicit := o.SendInitialEvents || withoutState
	switch {
	case explicit && o.ResourceVersionMatch != api.MatchNotOlderThan:
		forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	case !explicit && o.ResourceVersionMatch != "":
		forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
	}
	// A watch without a version is one with initial events, by default, and then it has a match as well.
	matches := o.ResourceVersionMatch != "" || o.ResourceVersion == "" || o.ResourceVersion == "0"
	if o.Continue != "" && matches {
		forbid("resourceVersionMatch is forbidden when continue is provided")
	}
	if o.ResourceVersionMatch != "" && o.ResourceVersionMatch != api.MatchNotOlderThan {
		errs = append(errs, apierrors.FieldError{
			Type: apierrors.FieldNotSupported, Field: match, Value: string(o.ResourceVersionMatch),
			Detail: `supported values: "NotOlderThan"`,
		})
	}
	return errs
}

// Event is what a watcher is told.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED or BOOKMARK.
	Type api.WatchEventType
	// Object is the state after the change; of a DELETED event the last one, with the version of the change. It is
	// shared: read only. nil for bookmarks.
	Object *store.Object
	// Version is the one of the change, or of the bookmark: the position to resume from. Initial events have that of their
	// object.
	Version uint64
	// InitialEventsEnd marks the bookmark that ends the initial events (annotation k8s.io/initial-events-end).
	InitialEventsEnd bool
}

// ErrEnded ends a watch for which nothing more can come: its resource has been removed.
var ErrEnded = errors.New("registry: the watch has ended, its resource was removed")
