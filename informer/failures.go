package informer

import (
	"context"
	"sync"

	"orrery/wait"
)

// failures is where every event goes that could not be applied: counted at once, told by a goroutine of its own.
// What is told runs code of the user, and the place where an event fails is deep inside the locks of queue and
// reflector.
type failures struct {
	pending chan *ProcessError
	tell    func(*ProcessError) // set before run

	mu    sync.Mutex // guards what follows
	count uint64
	last  *ProcessError
}

// maxPendingFailures bounds what waits to be told. Beyond it a failure is counted and no more.
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

// run tells until ctx ends and nothing is left. The informer owns its goroutine.
func (f *failures) run(ctx context.Context) {
	for {
		select {
		case err := <-f.pending:
			f.tellOne(err)
		case <-ctx.Done():
			f.tellRest()
			return
		}
	}
}

func (f *failures) tellRest() {
	for {
		select {
		case err := <-f.pending:
			f.tellOne(err)
		default:
			return
		}
	}
}

func (f *failures) tellOne(err *ProcessError) {
	defer wait.HandleCrash()
	f.tell(err)
}
