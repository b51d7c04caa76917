package reflector

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"

	"orrery/restclient/api"
	"orrery/wait"
)

// Reflector keeps a [Store] equal to a collection that can be listed and watched. This is the textbook form. It lacks
// streaming lists and does not notice a connection that is dead without an error; package machine has both.
type Reflector[T any] struct {
	config        Config[T] // with defaults
	listerWatcher ListerWatcher[T]
	store         Store[T]
	delays        backoff.BackOff // between attempts; used by the goroutine of Run
	*status                       // phase, position (the article's lastSyncResourceVersion), counters, trace
}

// New returns a new Reflector that does nothing until [Reflector.Run].
func New[T any](cfg Config[T]) *Reflector[T] {
	cfg = cfg.WithDefaults()
	return &Reflector[T]{config: cfg, listerWatcher: cfg.ListerWatcher, store: cfg.Store,
		delays: cfg.Backoff.Delays(), status: newStatus(cfg.Name, cfg.Trace)}
}

// Run calls ListAndWatch until ctx ends, with a back-off after each failure. It may be called once.
func (r *Reflector[T]) Run(ctx context.Context) {
	r.start()
	defer r.enter(PhaseStopped, "Stop")
	ctx = api.WithSingleAttempt(ctx) // requests are repeated here, not in the client as well
	for ctx.Err() == nil {
		if err := r.ListAndWatch(ctx); err != nil && ctx.Err() == nil {
			r.config.WatchErrorHandler(ctx, err)
			r.backOff(ctx, err)
		}
	}
}

// ListAndWatch lists everything, gives it to the store, and opens one watch after the other from the version of the list on.
// It returns nil when ctx ends, or the error after which only a new list helps.
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

func (r *Reflector[T]) list(ctx context.Context) error {
	r.enter(PhaseListing, "List")
	began, rv := time.Now(), r.relistResourceVersion()
	items, info, err := listPages(ctx, r.listerWatcher, rv, r.config.PageSize, r.status)
	if isResourceVersionUnavailable(err) && rv != "" { // at "" the server reads its database and refuses no version
		r.setUnavailable(rv, err)
		rv = ""
		items, info, err = listPages(ctx, r.listerWatcher, rv, r.config.PageSize, r.status)
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

// relistResourceVersion returns the version to list at: "0" at first, which is whatever the server has in its cache; then the last
// one seen, so that the store does not go back in time; "" if the server cannot serve that version: expired (410 Gone) or too large.
func (r *Reflector[T]) relistResourceVersion() string {
	s := r.Snapshot()
	if s.ResourceVersionRefused {
		return ""
	}
	return cmp.Or(s.ResourceVersion, "0")
}

// syncWith makes items the content of the store.
func (r *Reflector[T]) syncWith(ctx context.Context, items []T, resourceVersion string) error {
	r.enter(PhaseReplacing, "Listed")
	err := r.store.Replace(items, resourceVersion)
	if err == nil {
		r.setSynced(resourceVersion)
	}
	return r.recordStoreError(ctx, OpReplace, resourceVersion, err)
}

// watch opens one watch and follows it. It returns nil if the next watch can continue from the current position.
func (r *Reflector[T]) watch(ctx context.Context, resync <-chan time.Time) error {
	r.enter(PhaseOpeningWatch, "Watch")
	limit := r.config.MinWatchTimeout.Seconds() * (1 + rand.Float64()) // watches that begin together do not end together
	opts := api.ListOptions{ResourceVersion: r.LastSyncResourceVersion(), AllowWatchBookmarks: true, TimeoutSeconds: max(1, int64(limit))}
	w, err := r.listerWatcher.Watch(ctx, opts)
	if err != nil {
		return r.watchFailed(ctx, &WatchStartError{Name: r.config.Name, ResourceVersion: opts.ResourceVersion, Err: err})
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
	switch cause := CauseOf(err); {
	case isStoreError(err): // the resync failed
		return err
	case cause != CauseEnded && cause != CauseUnreachable && cause != CauseUnknown: // the server's refusal; after these three the position can be used again
		return r.watchFailed(ctx, &StreamError{Name: r.config.Name, ResourceVersion: rv, Err: err})
	case events == 0 && lasted < VeryShortWatch: // its position may be at fault
		return &StreamError{Name: r.config.Name, ResourceVersion: rv, Err: ErrVeryShortWatch}
	}
	return nil
}

// watchFailed returns nil, after a back-off, if the next watch can use the same position, and err otherwise.
func (r *Reflector[T]) watchFailed(ctx context.Context, err error) error {
	switch cause := CauseOf(err); {
	case cause == CauseTooManyRequests || cause == CauseUnreachable: // later, and from the same position
		r.backOff(ctx, err)
		return nil
	case isResourceVersionUnavailable(err):
		r.setUnavailable(r.LastSyncResourceVersion(), err)
	}
	return err
}

// watchHandler passes each event to the store and runs due resyncs until w ends. It returns the number of events and the reason.
func (r *Reflector[T]) watchHandler(ctx context.Context, w api.Watcher[T], resync <-chan time.Time) (events int, err error) {
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

// handle gives one event to the store and moves the position. The store decides whether an added object is new.
func (r *Reflector[T]) handle(ctx context.Context, e api.WatchEvent[T]) {
	r.received(e.Type, e.ResourceVersion, e.InitialEventsEnd)
	switch e.Type {
	case api.WatchAdded:
		_ = r.recordStoreError(ctx, OpAdd, e.ResourceVersion, r.store.Add(e.Object))
	case api.WatchModified:
		_ = r.recordStoreError(ctx, OpUpdate, e.ResourceVersion, r.store.Update(e.Object))
	case api.WatchDeleted:
		_ = r.recordStoreError(ctx, OpDelete, e.ResourceVersion, r.store.Delete(e.Object))
	case api.WatchBookmark: // there was no other change up to this version
		if store, ok := r.store.(Bookmarker); ok && e.ResourceVersion != "" {
			store.Bookmark(e.ResourceVersion)
		}
	}
	r.setPosition(e.ResourceVersion) // even after a store error, which is counted and traced: sending the event again would not help
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
