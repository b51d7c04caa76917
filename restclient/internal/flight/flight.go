package flight

import (
	"context"
	"sync"
)

// Flight shares the runs of one function. Create it with [New]. It may be used by any number of
// goroutines.
type Flight[T any] struct {
	fn func(context.Context) (T, error) // immutable

	mu      sync.Mutex
	current *run[T] // nil: nothing is under way
}

// run is one call of the function.
type run[T any] struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when value and err are there

	value T     // written once, before done is closed
	err   error // as value

	// waiting counts the callers that want this run, guarded by Flight.mu. Once it has fallen to
	// zero the run is cancelled and cannot be joined: its result is of no use.
	waiting int
}

// New returns a Flight of fn, which must return soon after its context has ended.
func New[T any](fn func(context.Context) (T, error)) *Flight[T] {
	return &Flight[T]{fn: fn}
}

// Do returns the result of a run. joined reports whether the run was under way already when Do was
// called, so that its result may describe the world as it was before the call. It returns the error
// of the run, or ctx.Err() if ctx ends first; the last caller to leave a run stays until that has
// ended, too, which it does soon. The values in fn's context are those of the call that started the
// run, and nothing else of it.
func (f *Flight[T]) Do(ctx context.Context) (value T, joined bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return value, false, err
		}
		r, joined, abandoned := f.join(ctx)
		if !abandoned {
			value, err := f.wait(ctx, r)
			return value, joined, err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return value, false, ctx.Err()
		}
	}
}

// join joins the run that is under way, or starts one. A run that all callers have left cannot be
// joined, and no other may start before it has ended.
func (f *Flight[T]) join(first context.Context) (r *run[T], joined, abandoned bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.current; r != nil {
		if r.waiting == 0 {
			return r, false, true
		}
		r.waiting++
		return r, true, false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(first))
	r = &run[T]{cancel: cancel, done: make(chan struct{}), waiting: 1}
	f.current = r
	go f.fly(ctx, r)
	return r, false, false
}

func (f *Flight[T]) fly(ctx context.Context, r *run[T]) {
	r.value, r.err = f.fn(ctx)
	r.cancel()
	// The next run may start before the callers of this one have woken up, but not before value and
	// err are written.
	f.mu.Lock()
	f.current = nil
	f.mu.Unlock()
	close(r.done)
}

func (f *Flight[T]) wait(ctx context.Context, r *run[T]) (T, error) {
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
	}
	f.mu.Lock()
	r.waiting--
	last := r.waiting == 0
	f.mu.Unlock()
	if last {
		// The caller that ends a run waits for its end: a program that exits now must leave nothing
		// behind that the run has started.
		r.cancel()
		<-r.done
	}
	var zero T
	return zero, ctx.Err()
}
