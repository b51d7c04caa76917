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
	// ErrStopped is returned by what needs an informer that is not over: AddEventHandler, AddIndexers, Run. An
	// informer runs once; make a new one.
	ErrStopped = errors.New("the informer has stopped already")
	// ErrNoHandler is returned by AddEventHandler for a nil handler.
	ErrNoHandler = errors.New("the handler is nil")
	// ErrForeignRegistration is returned for the removal of a handler that was added to another informer (or of
	// none). client-go ignores it, which leaves the handler that was meant running.
	ErrForeignRegistration = errors.New("the registration belongs to another informer")
	// ErrInsideHandler is returned by a waiting removal that is called from a callback of that very handler. The
	// handler is removed, and no further callback begins, but waiting for the end of the callback inside itself
	// would be waiting for ever.
	ErrInsideHandler = errors.New("called from inside the handler, which cannot wait for its own end")
	// ErrFactoryShutDown is returned by Start of a factory that was shut down.
	ErrFactoryShutDown = errors.New("the informer factory has been shut down")
)

// ProcessError reports that an event could not be applied, or not in full. The informer goes on with the next one.
// The error is counted (see Snapshot) and told to [Trace.ProcessError] and to the watch error handler; client-go
// drops it.
type ProcessError struct {
	Key string // of the object; empty if the failure is that it has none
	Err error  // what went wrong: a *deltafifo.TransformError, a *indexer.IndexError, a *wait.Panic ...
}

func (e *ProcessError) Error() string {
	return fmt.Sprintf("processing the event of %q: %v", e.Key, e.Err)
}

func (e *ProcessError) Unwrap() error { return e.Err }

// failures collects the events that could not be applied. It counts them at once and reports them on a goroutine of its own.
// Reporting runs code of the user, and the place where an event fails is deep inside the locks of queue and
// reflector.
type failures struct {
	pending chan *ProcessError
	tell    func(*ProcessError) // set before run

	mu    sync.Mutex // guards what follows
	count uint64
	last  *ProcessError
}

// maxPendingFailures bounds how many failures wait to be reported. The rest are only counted.
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

// run reports until ctx ends and nothing is left. The informer owns its goroutine.
func (f *failures) run(ctx context.Context) {
	for {
		select {
		case err := <-f.pending:
			f.tellOne(err)
		case <-ctx.Done():
			for len(f.pending) > 0 { // nothing is added any more
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
