package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orrery/wait"
)

var (
	// ErrStarted is returned by a second Run.
	ErrStarted = errors.New("the informer has been started already")
	// ErrStopped is returned by methods that need a running or new informer: AddEventHandler,
	// AddIndexers, Run. An informer runs once; make a new one.
	ErrStopped = errors.New("the informer has stopped already")
	// ErrNoHandler is returned by AddEventHandler for a nil handler.
	ErrNoHandler = errors.New("the handler is nil")
	// ErrForeignRegistration is returned for the removal of a handler of another informer (or of
	// none). client-go ignores it, which leaves the intended handler running.
	ErrForeignRegistration = errors.New("the registration belongs to another informer")
	// ErrFactoryShutDown is returned by Start of a factory that was shut down.
	ErrFactoryShutDown = errors.New("the informer factory has been shut down")
)

// ProcessError reports that an event could not be applied, or not in full. The informer continues
// with the next one. The error is counted (see Snapshot) and passed to [Trace.ProcessError] and to
// the watch error handler; client-go drops it.
type ProcessError struct {
	Key string // of the object; empty if it has none
	Err error  // a *deltafifo.KeyError or TransformError, a *indexer.IndexError, a *wait.Panic ...
}

func (e *ProcessError) Error() string {
	return fmt.Sprintf("processing the event of %q: %v", e.Key, e.Err)
}

func (e *ProcessError) Unwrap() error { return e.Err }

// failures collects the events that could not be applied. It counts them at once and reports them
// on a goroutine of its own: reporting calls user code, and events fail with locks of queue and
// reflector held.
type failures struct {
	pending chan *ProcessError
	tell    func(*ProcessError) // set before run

	mu    sync.Mutex // guards the fields below
	count uint64
	last  *ProcessError
}

// maxPendingFailures bounds the unreported failures. Further ones are only counted.
const maxPendingFailures = 128

func newFailures() *failures {
	return &failures{pending: make(chan *ProcessError, maxPendingFailures)}
}

// add may be called under any lock.
func (f *failures) add(err *ProcessError) {
	f.mu.Lock()
	f.count++
	f.last = err
	f.mu.Unlock()
	select {
	case f.pending <- err:
	default:
	}
}

func (f *failures) summary() (count uint64, last *ProcessError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count, f.last
}

// run reports failures until ctx ends and none is left. The informer owns its goroutine.
func (f *failures) run(ctx context.Context) {
	for {
		select {
		case err := <-f.pending:
			f.tellOne(err)
		case <-ctx.Done():
			for len(f.pending) > 0 { // no more failures are added
				f.tellOne(<-f.pending)
			}
			return
		}
	}
}

func (f *failures) tellOne(err *ProcessError) {
	defer wait.HandleCrash()
	f.tell(err)
}
