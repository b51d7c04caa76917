package machine

import "orrery/informer/reflector"

// Snapshot returns what the Reflector is doing. It may be called at any time from any goroutine and waits for
// nothing that takes long.
func (r *Reflector[T]) Snapshot() reflector.Snapshot {
	r.publishMu.Lock()
	defer r.publishMu.Unlock()
	s := r.published
	snapshot := reflector.Snapshot{
		Name:                   r.rules.name,
		Phase:                  s.phase,
		ResourceVersion:        s.lastRV,
		ResourceVersionRefused: s.unavailable,
		Synced:                 s.synced,
		StreamingList:          r.rules.streaming && !s.refused,
		Rounds:                 s.rounds,
		Lists:                  s.lists,
		Watches:                s.watches,
		Events:                 s.totalEvents,
		Stale:                  s.totalStale,
		Bookmarks:              s.totalBookmarks,
		Zombies:                s.zombies,
		Failures:               s.failures,
		LastError:              s.lastErr,
		StoreErrors:            r.publishedStoreErrors,
		LastStoreError:         r.publishedStoreError,
	}
	if s.backOffAt != never {
		snapshot.NextAttempt = r.began.Add(s.backOffAt)
	}
	return snapshot
}

// LastSyncResourceVersion returns the version that the store has: that of the last list, event or bookmark. It is ""
// before the first list.
func (r *Reflector[T]) LastSyncResourceVersion() string {
	r.publishMu.Lock()
	defer r.publishMu.Unlock()
	return r.published.lastRV
}

// publishChangeLocked publishes what a change has changed and a snapshot shows.
func (r *Reflector[T]) publishChangeLocked() {
	r.publishMu.Lock()
	r.published.lastRV, r.published.totalEvents = r.state.lastRV, r.state.totalEvents
	r.publishedStoreErrors, r.publishedStoreError = r.failures, r.failure
	r.publishMu.Unlock()
}

func (r *Reflector[T]) publishLocked() {
	r.publishMu.Lock()
	r.published = r.state
	r.publishedStoreErrors, r.publishedStoreError = r.failures, r.failure
	r.publishMu.Unlock()
}
