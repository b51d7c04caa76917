package reflector

import "time"

// Snapshot is what a Reflector was doing at one moment, as plain data.
type Snapshot struct {
	Name  string
	Phase Phase
	// ResourceVersion is the version that the store has; "" before the first list.
	ResourceVersion string
	// ResourceVersionRefused: the server will not accept it again; the next list is a consistent read.
	ResourceVersionRefused bool
	// Synced: the store has had a whole state at least once.
	Synced bool
	// StreamingList: the next whole state is asked for as a stream.
	StreamingList bool

	Rounds    int // times that the whole state was asked for
	Lists     int // list requests, each page one
	Watches   int // watches and streaming lists asked for
	Events    int // changes received
	Stale     int // changes received that were no news: their version is not newer than the position. The store was not told
	Bookmarks int
	Zombies   int // watches whose connection was dead without an error, see Trace.Zombie

	// Failures in a row without health between them.
	Failures int
	// LastError is why the last back-off, or the last fall-back to a list, happened; nil if none did.
	LastError error
	// NextAttempt is when the back-off ends; zero outside of one.
	NextAttempt time.Time
	// StoreErrors is the number of calls of the store that failed, LastStoreError the last of them.
	StoreErrors    int
	LastStoreError *StoreError
}

// Snapshot returns what the Reflector is doing. It may be called at any time from any goroutine and waits for
// nothing that takes long.
func (r *Reflector[T]) Snapshot() Snapshot {
	r.publishMu.Lock()
	defer r.publishMu.Unlock()
	s := r.published
	snapshot := Snapshot{
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
