package informer

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
)

// Registration represents a handler that was added to an informer. It serves to wait for the
// handler and to remove it. It is safe for concurrent use.
type Registration struct {
	info  HandlerInfo
	owner any // the informer, for comparison only

	synced chan struct{} // closed when the initial list has been handled
	ended  chan struct{} // closed when the last callback has returned
	// goroutine is the number of the goroutine that calls the handler, 0 before it runs.
	goroutine atomic.Uint64
}

func newRegistration(info HandlerInfo, owner any) *Registration {
	return &Registration{info: info, owner: owner, synced: make(chan struct{}), ended: make(chan struct{})}
}

// Info identifies the handler.
func (r *Registration) Info() HandlerInfo { return r.info }

// HasSynced reports whether the handler has processed the initial state: the informer's first list,
// or the content of the store when the handler was added. A recovered panic counts as processed.
//
// The informer's HasSynced is about the store only.
func (r *Registration) HasSynced() bool { return isClosed(r.synced) }

// Synced returns a channel that is closed when [Registration.HasSynced] becomes true. It stays open
// if the handler is removed or the informer stops before.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// Ended returns a channel that is closed when no callback of the handler is running or will begin:
// it was removed, or the informer stopped.
func (r *Registration) Ended() <-chan struct{} { return r.ended }

// waitEnded waits for the last callback, unless that callback itself waits.
func (r *Registration) waitEnded(ctx context.Context) error {
	if id := goroutineID(); id != 0 && id == r.goroutine.Load() {
		return ErrInsideHandler
	}
	return waitClosed(ctx, r.ended, nil)
}

// goroutineID returns the number of the calling goroutine. The Go runtime shows it only in the head
// of a stack trace ("goroutine 18 [running]:"). It is read once per handler and once per waiting
// removal, only to turn a certain deadlock into [ErrInsideHandler].
func goroutineID() uint64 {
	var buf [64]byte
	head := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(head, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0 // unknown format: no goroutine has this number, so nothing is detected
	}
	return id
}
