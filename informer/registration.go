package informer

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
)

// Registration is the receipt for a handler that was added to an informer. It serves to wait for the handler and
// to remove it. It may be used from any goroutine.
type Registration struct {
	info  HandlerInfo
	owner any // the informer that gave it out, for comparison only

	synced chan struct{} // closed when the initial list has been handled
	ended  chan struct{} // closed when the last callback has returned
	// goroutine is the number of the goroutine that calls the handler, 0 before it runs.
	goroutine atomic.Uint64
}

func newRegistration(info HandlerInfo, owner any) *Registration {
	return &Registration{info: info, owner: owner, synced: make(chan struct{}), ended: make(chan struct{})}
}

// Info returns which handler this is.
func (r *Registration) Info() HandlerInfo { return r.info }

// HasSynced reports whether the handler has been told of everything that existed at the beginning: the
// informer's first list, or the content of the store when the handler was added, and the callbacks have
// returned. A callback that panicked (and did not end the process) has been told.
//
// It says more than the HasSynced of the informer, which is about the store.
func (r *Registration) HasSynced() bool { return isClosed(r.synced) }

// Synced returns a channel that is closed when [Registration.HasSynced] becomes true. It stays open if the
// handler is removed or the informer stops before.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// Ended returns a channel that is closed when no callback of the handler is going on or is going to begin: it
// was removed, or the informer stopped.
func (r *Registration) Ended() <-chan struct{} { return r.ended }

// waitEnded waits for the last callback, unless it is that callback which waits.
func (r *Registration) waitEnded(ctx context.Context) error {
	if id := goroutineID(); id != 0 && id == r.goroutine.Load() {
		return ErrInsideHandler
	}
	return waitClosed(ctx, r.ended, nil)
}

// goroutineID tells goroutines apart. The Go runtime gives the number only in the head of a stack trace
// ("goroutine 18 [running]:"). It is asked for once per handler and once per waiting removal, and used for
// nothing but to turn a certain deadlock into [ErrInsideHandler].
func goroutineID() uint64 {
	var buf [64]byte
	head := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(head, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0 // a runtime that writes something else: no goroutine has this number, nothing is detected
	}
	return id
}
