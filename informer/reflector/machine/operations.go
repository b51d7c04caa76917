package machine

import (
	"context"
	"io"
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// operate performs an operation and passes its outcome to the machine. It runs on the goroutine of
// Run, without the lock. An operation ends early when requestLocked replaces it, which ends its
// context.
func (r *Reflector[T]) operate(op operation) {
	switch op.kind {
	case effectList:
		r.list(op)
	case effectOpen:
		r.open(op)
	case effectRead:
		r.read(op)
	case effectWait:
		<-op.ctx.Done()
	}
}

func (r *Reflector[T]) list(op operation) {
	page, err := r.config.ListerWatcher.List(op.ctx, op.options)
	if err != nil {
		r.outcome(op, failed(inputListFailed, err))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stoppingLocked(op) {
		return
	}
	r.page = page
	defer func() { r.page = nil }()
	r.handleLocked(input{kind: inputPageListed, rv: page.ResourceVersion, token: page.Continue, items: len(page.Items)})
}

func (r *Reflector[T]) open(op operation) {
	if op.verify {
		if err := r.verify(op); err != nil {
			r.outcome(op, failed(inputOpenFailed, err))
			return
		}
	}
	watcher, err := r.config.ListerWatcher.Watch(op.ctx, op.options)
	if err != nil {
		r.outcome(op, failed(inputOpenFailed, err))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stoppingLocked(op) {
		watcher.Stop()
		return
	}
	r.watcher = watcher
	r.trace.WatchStarted(op.options)
	carried, ok := watcher.(keepaliver)
	r.handleLocked(input{kind: inputOpened, keepalive: ok && carried.HasKeepalive()})
}

// verify requests a single object at a version not older than the position. It returns the error of
// a server that has not reached the position, is overloaded, or does not answer. Any other error
// says nothing about the position, and the watch is tried.
func (r *Reflector[T]) verify(op operation) error {
	ctx := api.WithThrottled(op.ctx, func(wait time.Duration) {
		r.outcome(op, input{kind: inputThrottled, delay: wait})
	})
	_, err := r.config.ListerWatcher.List(ctx, api.ListOptions{
		ResourceVersion:      op.options.ResourceVersion,
		ResourceVersionMatch: api.MatchNotOlderThan,
		Limit:                1,
	})
	switch reflector.CauseOf(err) {
	case reflector.CauseTooLarge, reflector.CauseUnreachable, reflector.CauseTooManyRequests:
		return err
	}
	if op.ctx.Err() != nil {
		return err
	}
	return nil
}

// read pulls events until the stream ends or is replaced.
func (r *Reflector[T]) read(op operation) {
	r.mu.Lock()
	watcher := r.watcher
	r.mu.Unlock()
	for wanted := watcher != nil; wanted; {
		event, err := watcher.Next()
		wanted = r.received(op, event, err)
	}
}

// received passes an event or error to the machine and reports whether to read on.
func (r *Reflector[T]) received(op operation, event api.WatchEvent[T], err error) (readOn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.operation.id != op.id || err != nil && r.stoppingLocked(op) {
		return false
	}
	r.event = event
	r.handleLocked(meaning(event, err))
	r.event = api.WatchEvent[T]{} // an idle stream must not keep the last object alive
	return r.operation.id == op.id
}

// meaning returns the input for an event, or for the end of the stream.
func meaning[T any](event api.WatchEvent[T], err error) input {
	switch {
	case err != nil:
		return failed(inputStreamFailed, err)
	case event.Type == api.WatchBookmark:
		return input{kind: inputBookmark, rv: event.ResourceVersion, initial: event.InitialEventsEnd}
	case event.Type == api.WatchError:
		return failed(inputStreamFailed, reflector.EventError(event.Status))
	default:
		return input{kind: inputEvent, rv: event.ResourceVersion, added: event.Type == api.WatchAdded}
	}
}

// outcome passes the outcome of an operation, or its delay, to the machine.
func (r *Reflector[T]) outcome(op operation, in input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stoppingLocked(op) {
		r.handleLocked(in)
	}
}

// stoppingLocked reports whether the outcome of op is irrelevant: the operation was replaced, or
// Run must end, which makes everything fail.
func (r *Reflector[T]) stoppingLocked(op operation) bool {
	return r.operation.id != op.id || r.ctx.Err() != nil
}

// failed is the input for an error.
func failed(kind inputKind, err error) input {
	in := input{kind: kind, err: err, cause: reflector.CauseOf(err), retryAfter: api.RetryAfterOf(err)}
	if kind == inputStreamFailed && in.cause == reflector.CauseEnded {
		in.kind, in.err = inputStreamEnded, io.EOF
	}
	return in
}

// requestLocked replaces the operation of Run's goroutine. Its context is new unless it continues
// the stream that the previous operation has opened.
func (r *Reflector[T]) requestLocked(e *effect) {
	op := operation{id: r.operation.id + 1, kind: e.kind, ctx: r.operation.ctx, options: e.options, verify: e.verify}
	if e.kind != effectRead {
		if r.cancel != nil {
			r.cancel()
		}
		// The machine backs off; the client must not retry as well.
		op.ctx, r.cancel = context.WithCancel(api.WithSingleAttempt(r.ctx))
	}
	r.operation = op
}

// collection accumulates the complete state, page by page or event by event, before the store gets
// it at once. The zero value is empty.
type collection[T any] struct {
	items []T
	pages int

	// Only for a streaming list, where objects may change before the list is complete.
	objects map[string]T
	keys    []string // of objects, and of those that were deleted again, in the order of arrival
}

// addPage adds the items of a page. It copies them, unless the page is the first: so a page is not
// kept in memory by its remaining items (kubernetes issue 113305), and a list in one page is not
// copied.
func (c *collection[T]) addPage(items []T) {
	c.pages++
	if c.pages == 1 {
		c.items = items[:len(items):len(items)]
		return
	}
	c.items = append(c.items, items...)
}

// put adds an object, or replaces the one with its key at its place.
func (c *collection[T]) put(key string, obj T) {
	if c.objects == nil {
		c.objects = map[string]T{}
	}
	if _, known := c.objects[key]; !known {
		c.keys = append(c.keys, key)
	}
	c.objects[key] = obj
}

// remove removes the object with the key, if present.
func (c *collection[T]) remove(key string) { delete(c.objects, key) }

// take returns the objects in the order of their arrival and leaves the collection empty.
func (c *collection[T]) take() []T {
	items := c.items
	for _, key := range c.keys {
		if obj, exists := c.objects[key]; exists {
			items = append(items, obj)
			delete(c.objects, key) // its key is there twice if it was deleted in between
		}
	}
	*c = collection[T]{}
	return items
}
