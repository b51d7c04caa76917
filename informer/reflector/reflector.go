package reflector

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"

	"orrery/restclient/api"
	"orrery/wait"
)

// Reflector keeps a [Store] equal to a collection, by list and watch. This is the textbook form. It
// has no streaming lists and does not notice a silently dead connection; package machine does both.
//
//	list ──▶ Replace ──▶ watch ──▶ Add, Update, Delete
//	 ▲                    │ ▲
//	 │                    │ └── it ended, or the server is unreachable or too busy: the next watch
//	 │                    │     begins at the position, the version of the last event
//	 └────────────────────┘ back-off, and a new list:
//	                        the version is too old, the server refuses,
//	                        or a very short watch brought nothing
//
// Read ListAndWatch first, then watchHandler and handle, and watch last.
type Reflector[T any] struct {
	config        Config[T] // with defaults
	listerWatcher ListerWatcher[T]
	store         Store[T]
	delays        backoff.BackOff // between attempts; used by the goroutine of Run
	brief         bool            // the last watch was very short; used by the goroutine of Run
	*status                       // phase, position (lastSyncResourceVersion), counters, trace
}

// New returns a new Reflector that does nothing until [Reflector.Run].
func New[T any](cfg Config[T]) *Reflector[T] {
	cfg = cfg.WithDefaults()
	return &Reflector[T]{config: cfg, listerWatcher: cfg.ListerWatcher, store: cfg.Store,
		delays: cfg.Backoff.Delays(), status: newStatus(cfg)}
}

// Run calls ListAndWatch until ctx ends, with a back-off after each failure. It may be called again
// when it has returned, or panicked: it begins with a list at the last version.
func (r *Reflector[T]) Run(ctx context.Context) {
	defer r.enter(PhaseStopped, "Stop")
	ctx = api.WithSingleAttempt(ctx) // requests are repeated here, not in the client as well
	for ctx.Err() == nil {
		if err := r.ListAndWatch(ctx); err != nil && ctx.Err() == nil {
			r.config.WatchErrorHandler(ctx, err)
			r.backOff(ctx, err)
		}
	}
}

// ListAndWatch lists the collection, and opens one watch after the other, without a new list as
// long as the position is valid. If ResyncPeriod is positive, a ticker with this period
// triggers the resyncs of all watches. It returns nil when ctx ends during a watch, otherwise the
// first error of list or watch, which calls for a new list.
func (r *Reflector[T]) ListAndWatch(ctx context.Context) error {
	if err := r.list(ctx); err != nil {
		return err
	}
	var resync <-chan time.Time // nil, which never delivers
	if r.config.ResyncPeriod > 0 {
		ticker := time.NewTicker(r.config.ResyncPeriod)
		defer ticker.Stop()
		resync = ticker.C
	}
	for ctx.Err() == nil {
		if err := r.watch(ctx, resync); err != nil {
			return err
		}
	}
	return nil
}

// list enters PhaseListing and fetches the collection with listPages, at relistResourceVersion. If
// the server refuses that version (isResourceVersionUnavailable), it calls setUnavailable and asks
// at once for "". An error of listPages becomes a *ListError; one of syncWith is returned as it is.
// On success Trace.Listed gets info with the number of items and the time that listPages took.
func (r *Reflector[T]) list(ctx context.Context) error {
	r.enter(PhaseListing, "List")
	began, rv := time.Now(), r.relistResourceVersion()
	items, info, err := listPages(ctx, r.config, rv, r.status)
	if isResourceVersionUnavailable(err) && rv != "" {
		// At "" the server reads its database, and refuses no version.
		r.setUnavailable(rv, err)
		rv = ""
		items, info, err = listPages(ctx, r.config, rv, r.status)
	}
	if err != nil {
		return &ListError{Name: r.config.Name, ResourceVersion: rv, Page: info.Pages, Err: err}
	}
	info.Items, info.Duration = len(items), time.Since(began)
	if err = r.syncWith(ctx, items, info.ResourceVersion); err == nil {
		r.trace.Listed(info)
	}
	return err
}

// syncWith enters PhaseReplacing, replaces the content of the store, and moves the position with
// setSynced. If the store fails, the position stays, and the error is that of recordStoreError.
func (r *Reflector[T]) syncWith(ctx context.Context, items []T, resourceVersion string) error {
	r.enter(PhaseReplacing, "Listed")
	err := r.store.Replace(items, resourceVersion)
	if err == nil {
		r.setSynced(resourceVersion)
	}
	return r.recordStoreError(ctx, OpReplace, resourceVersion, err)
}

// watch reads one watch to its end. It returns nil if the next one can continue from there.
func (r *Reflector[T]) watch(ctx context.Context, resync <-chan time.Time) error {
	r.enter(PhaseOpeningWatch, "Watch")
	// Watches that begin together do not end together.
	limit := r.config.MinWatchTimeout.Seconds() * (1 + rand.Float64())
	opts := api.ListOptions{
		ResourceVersion:     r.LastSyncResourceVersion(),
		AllowWatchBookmarks: true,
		TimeoutSeconds:      max(1, int64(limit)),
	}
	w, err := r.listerWatcher.Watch(ctx, opts)
	if err != nil {
		failed := &WatchStartError{Name: r.config.Name, ResourceVersion: opts.ResourceVersion, Err: err}
		return r.watchFailed(ctx, failed)
	}
	defer w.Stop()
	r.trace.WatchStarted(opts)
	began := time.Now()
	events, err := r.watchHandler(ctx, w, resync)
	rv, lasted := r.LastSyncResourceVersion(), time.Since(began)
	r.trace.WatchEnded(WatchInfo{ResourceVersion: rv, Events: events, Lasted: lasted, Err: err})
	if events > 0 || lasted >= HealthyWatch {
		r.delays.Reset()
		r.setHealthy()
	}
	brief := lasted < VeryShortWatch
	wasBrief := r.brief
	r.brief = brief
	cause := CauseOf(err)
	// None of these says anything about the position.
	stillValid := cause == CauseEnded || cause == CauseUnreachable || cause == CauseUnknown
	switch {
	case isStoreError(err): // the resync failed
		return err
	case !stillValid: // the server has refused to go on
		return r.watchFailed(ctx, &StreamError{Name: r.config.Name, ResourceVersion: rv, Err: err})
	case brief && events == 0: // its position may be at fault
		return &StreamError{Name: r.config.Name, ResourceVersion: rv, Err: ErrVeryShortWatch}
	case brief && (wasBrief || rv == opts.ResourceVersion): // or this would be a busy loop
		r.backOff(ctx, &StreamError{Name: r.config.Name, ResourceVersion: rv, Err: ErrVeryShortWatch})
	}
	return r.resume(ctx)
}

// resume returns nil if the next watch can continue at the position (resumable). If not, it lists.
func (r *Reflector[T]) resume(ctx context.Context) error {
	if ctx.Err() != nil || r.resumable() {
		return nil
	}
	return r.list(ctx)
}

// watchFailed returns nil, after a back-off, if the next watch can continue or a list has made that
// possible (resume), and otherwise an error: err, or that of the list.
func (r *Reflector[T]) watchFailed(ctx context.Context, err error) error {
	switch cause := CauseOf(err); {
	case ctx.Err() != nil: // the request was given up
		return nil
	case cause == CauseTooManyRequests || cause == CauseUnreachable: // later, and from the same position
		r.backOff(ctx, err)
		return r.resume(ctx)
	case isResourceVersionUnavailable(err): // for a watch: a list at this version is still possible
		r.trace.Expired(r.LastSyncResourceVersion(), err)
	}
	return err
}

// watchHandler enters PhaseWatching, passes each event of w to handle, and resyncs when the channel
// delivers, until ctx ends (nil), the resync fails, or w ends (io.EOF is normal) or sends an ERROR
// event. It returns the number of events, bookmarks included, and the error, with w stopped.
func (r *Reflector[T]) watchHandler(
	ctx context.Context, w api.Watcher[T], resync <-chan time.Time,
) (events int, err error) {
	r.enter(PhaseWatching, "Opened")
	results, stop := resultChan(w) // it turns ERROR events into errors
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return events, nil
		case <-resync:
			if err := r.resync(ctx); err != nil {
				return events, err
			}
		case e := <-results:
			if e.err != nil {
				return events, e.err
			}
			events++
			r.handle(ctx, e.event)
		}
	}
}

// handle counts an event with received, passes it to the store, and moves the position to its
// version, even if the store failed: that concerns one object, and recordStoreError reports it.
// ADDED, MODIFIED, DELETED are Add, Update, Delete. A bookmark has no object: only a [Bookmarker]
// gets its version, if any. An event of unknown type only moves the position.
func (r *Reflector[T]) handle(ctx context.Context, e api.WatchEvent[T]) {
	received(r.status, e)
	switch e.Type {
	case api.WatchAdded:
		_ = r.recordStoreError(ctx, OpAdd, e.ResourceVersion, r.store.Add(e.Object))
	case api.WatchModified:
		_ = r.recordStoreError(ctx, OpUpdate, e.ResourceVersion, r.store.Update(e.Object))
	case api.WatchDeleted:
		_ = r.recordStoreError(ctx, OpDelete, e.ResourceVersion, r.store.Delete(e.Object))
	case api.WatchBookmark:
		if store, ok := r.store.(Bookmarker); ok && e.ResourceVersion != "" {
			store.Bookmark(e.ResourceVersion)
		}
	}
	r.setPosition(e.ResourceVersion)
}

func (r *Reflector[T]) resync(ctx context.Context) error {
	if r.config.ShouldResync != nil && !r.config.ShouldResync() {
		return nil
	}
	err := r.store.Resync()
	r.trace.Resync(err)
	return r.recordStoreError(ctx, OpResync, r.LastSyncResourceVersion(), err)
}

func (r *Reflector[T]) backOff(ctx context.Context, err error) {
	delay := max(r.delays.NextBackOff(), min(api.RetryAfterOf(err), LongestRetryAfter))
	r.enterBackOff(delay, err)
	_ = wait.Sleep(ctx, delay)
}
