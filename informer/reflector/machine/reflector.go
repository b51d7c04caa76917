package machine

import (
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"

	"orrery/informer/reflector"
	"orrery/restclient/api"
	"orrery/wait"
)

// Reflector keeps a [Store] equal to a collection that can be listed and watched. See the package
// documentation.
//
// It is the shell around the machine of this package: it owns the goroutines, the connection, the
// timers, the random numbers and the store, and makes no decisions.
type Reflector[T any] struct {
	config  reflector.Config[T] // with defaults
	rules   *rules
	trace   *reflector.Trace // of config
	marks   func(resourceVersion string)
	carried keepaliver // the lister, if it is one

	// Set by Run at its start.
	ctx   context.Context // ends with the caller's, or when keepTime panics
	end   context.CancelFunc
	began time.Time
	timer *time.Timer
	crash *wait.Panic // written by keepTime at its end, read after that

	// mu guards the machine and everything that its effects use. It is held during a step and its
	// effects, including the calls of the store, the hooks and the error handler, but not while the
	// shell waits for a list, a watch, an event or a timer.
	mu        sync.Mutex
	state     state
	in        input              // of the present step; a field so that a step allocates nothing
	todo      effects            // of the same step
	operation operation          // the task of Run's goroutine
	cancel    context.CancelFunc // ends operation.ctx
	watcher   api.Watcher[T]     // the open stream, or nil
	page      *api.List[T]       // the page being processed
	event     api.WatchEvent[T]  // the event being processed
	collected collection[T]      // the state received so far
	delays    backoff.BackOff    // made of config.Backoff
	ringsAt   time.Duration      // when timer fires
	stepping  bool               // a step is under way, or has panicked

	// publishMu guards the copy that Snapshot reads, so that hooks, handlers and the store may call
	// it. It may be acquired while mu is held, never the other way round.
	publishMu sync.Mutex
	published reflector.Snapshot
}

// operation is the task of Run's goroutine until another operation replaces it.
type operation struct {
	id      int // the outcome of an operation that is no longer current is dropped
	kind    effectKind
	ctx     context.Context // ends when the operation is replaced; a Read has that of the Open before it
	options api.ListOptions
	verify  bool // Open: only if the server has reached the version of options
}

// New returns a Reflector that does nothing until [Reflector.Run].
func New[T any](cfg reflector.Config[T]) *Reflector[T] {
	cfg = cfg.WithDefaults()
	r := &Reflector[T]{config: cfg, rules: rulesOf(cfg), trace: cfg.Trace, state: newState(), marks: func(string) {}}
	if store, ok := cfg.Store.(reflector.Bookmarker); ok {
		r.marks = store.Bookmark
	}
	r.carried, _ = cfg.ListerWatcher.(keepaliver)
	r.state.Name = cfg.Name
	r.publishLocked()
	return r
}

// Run reflects until ctx ends. When it returns, its goroutines have ended and the store is not
// called again. Run panics if the ListerWatcher, the store, a hook or the error handler does; a
// panic on the timers' goroutine becomes a *wait.Panic. It may be called again when it has
// returned, or panicked: it begins with the state at the last version.
func (r *Reflector[T]) Run(ctx context.Context) {
	r.begin(ctx)
	var keeper sync.WaitGroup
	defer r.finish(&keeper)
	keeper.Go(r.keepTime)

	r.handle(input{kind: inputStart})
	for {
		op := r.current()
		switch {
		case op.kind == effectHalt:
			return
		case r.ctx.Err() != nil:
			r.handle(input{kind: inputStop})
		default:
			r.operate(op)
		}
	}
}

func (r *Reflector[T]) begin(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shot := r.state.Snapshot
	shot.Phase, shot.ResourceVersion = phaseIdle, r.published.ResourceVersion
	r.state, r.stepping, r.crash = newState(), false, nil
	r.state.Snapshot = shot
	r.collected = collection[T]{}
	r.ctx, r.end = context.WithCancel(ctx)
	r.began = time.Now()
	r.delays = r.config.Backoff.Delays()
	r.ringsAt = never
	r.timer = time.NewTimer(never)
}

// finish waits for the other goroutine and passes its panic on. It also runs when Run panics, and
// then closes the stream.
func (r *Reflector[T]) finish(keeper *sync.WaitGroup) {
	r.end()
	keeper.Wait()
	r.timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeLocked(&effect{})
	if r.crash != nil {
		panic(r.crash)
	}
}

func (r *Reflector[T]) current() operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Phase == phaseStopped { // a hook may have panicked before the step set the operation
		return operation{kind: effectHalt}
	}
	return r.operation
}

// handle lets the machine take a step, and whatever follows from its effects.
func (r *Reflector[T]) handle(in input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handleLocked(in)
}

func (r *Reflector[T]) handleLocked(in input) {
	if r.stepping { // the last step panicked, perhaps before the store had what the position says
		r.state.ResourceVersion = r.published.ResourceVersion
	}
	r.stepping = true
	r.in = in
	for more := true; more; {
		r.in.now = time.Since(r.began)
		if r.in.kind != inputEvent { // no connection is opened because of an event
			r.in.noKeepalive = r.carried != nil && !r.carried.HasKeepalive()
		}
		from := r.state.Phase
		r.todo.n = 0
		r.rules.step(&r.state, &r.in, &r.todo)
		if r.state.Phase != from {
			r.trace.StateChanged(from, r.state.Phase, r.in.kind.String())
		}
		more = r.performLocked()
		r.publishLocked()
	}
	r.stepping = false
	if at, _ := r.state.next(); at < r.ringsAt {
		r.setTimerLocked(at)
	}
}

// keepTime is the second goroutine of Run. It tells the machine which timers are due, also while
// the first one waits for an answer: it is what interrupts a stream that has gone silent and what
// makes resyncs happen on a quiet watch. It ends with r.ctx.
func (r *Reflector[T]) keepTime() {
	defer func() {
		if value := recover(); value != nil {
			r.crash = wait.NewPanic(value)
			r.end()
		}
	}()
	for {
		select {
		case <-r.ctx.Done():
			r.handle(input{kind: inputStop})
			return
		case <-r.timer.C:
			r.ring()
		}
	}
}

// ring reports each due deadline to the machine and sets the timer to the next one. An event
// postpones the idle deadline but does not move the timer. The timer then fires without effect, at
// most once in an idle timeout, which is cheaper than moving it with each event.
func (r *Reflector[T]) ring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.ctx.Err() == nil {
		at, due := r.state.next()
		if at > time.Since(r.began) {
			r.setTimerLocked(at)
			return
		}
		r.handleLocked(input{kind: due})
	}
}

// Snapshot returns what the Reflector is doing. It may be called at any time from any goroutine and
// waits for nothing that takes long.
func (r *Reflector[T]) Snapshot() reflector.Snapshot {
	r.publishMu.Lock()
	defer r.publishMu.Unlock()
	return r.published
}

// LastSyncResourceVersion returns the version that the store has: that of the last list, event or
// bookmark. It is "" before the first list.
func (r *Reflector[T]) LastSyncResourceVersion() string { return r.Snapshot().ResourceVersion }

func (r *Reflector[T]) publishLocked() {
	r.publishMu.Lock()
	defer r.publishMu.Unlock()
	r.published = r.state.Snapshot
	r.published.StreamingList = r.rules.streaming && !r.state.server.refused
	if r.state.timers.backOff != never {
		r.published.NextAttempt = r.began.Add(r.state.timers.backOff)
	}
}
