package apps

import (
	"strconv"
	"sync"
	"time"

	"orrery/restclient/api"
)

// Timeout is how long a controller waits for the event of one of its own writes. A watch that
// breaks may never deliver it.
const Timeout = 5 * time.Minute

// Written remembers the resource version that a controller's own writes gave an object. Until the
// informer's store has reached it, a pass would start from the state before the write, and the
// server would refuse the next write with a conflict.
//
// The zero value is ready.
type Written struct {
	mu    sync.Mutex
	known map[string]write // by UID
}

type write struct {
	version uint64
	at      time.Time
}

// Note records the answer to a write.
func (w *Written) Note(stored *api.ObjectMeta) {
	version, err := strconv.ParseUint(stored.ResourceVersion, 10, 64)
	if err != nil {
		return // versions of this server cannot be compared
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil {
		w.known = map[string]write{}
	}
	w.known[stored.UID] = write{version, time.Now()}
}

// Behind reports whether an object of the store is older than the last write that Note recorded.
// The event that brings the store up to date follows, except when it is late by more than
// [Timeout]; then Behind gives up and returns false.
func (w *Written) Behind(seen *api.ObjectMeta) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.known[seen.UID]
	if !ok {
		return false
	}
	version, err := strconv.ParseUint(seen.ResourceVersion, 10, 64)
	if err == nil && version < last.version && time.Since(last.at) < Timeout {
		return true
	}
	delete(w.known, seen.UID)
	return false
}

// Forget drops what is recorded of an object that has gone.
func (w *Written) Forget(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.known, uid)
}
