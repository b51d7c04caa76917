package leaderelection

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orrery/internal/hooks"
	"orrery/restclient/api"
	"orrery/wait"
)

// Elector takes part in one election. It is the shell around the candidate: it owns the goroutines,
// timers and requests, and decides nothing.
type Elector struct {
	// Immutable.
	config Config
	began  time.Time // local moments count from here, on the monotonic clock

	reported string // the holder last passed to Trace.NewLeader

	// mu guards the fields below for readers on other goroutines; that of Run alone writes them.
	mu        sync.Mutex
	candidate candidate
	lastErr   error // of the last attempt; nil if it succeeded
}

// New returns a new elector; [Elector.Run] starts it. It fails if the configuration is invalid.
func New(config Config) (*Elector, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	config.Timing = config.Timing.withDefaults()
	config.Trace = hooks.Complete(config.Trace)
	if config.Fence == nil {
		config.Fence = &Fence{}
	}
	return &Elector{
		config: config,
		began:  time.Now(),
		candidate: candidate{
			identity: config.Identity, name: config.Name, namespace: config.Namespace, timing: config.Timing,
		},
	}, nil
}

// Run stands by until this process leads, calls work, and releases the Lease when work has
// returned. It may be called once.
//
// The context of the work ends with the lease and not with ctx: a leader that has to stop finishes
// its current work as the leader, so work must watch ctx as well. If the lease is lost, Run waits
// for work to return.
//
// It returns nil if ctx has ended or work has returned, a [*LostError] if the lease was lost, and
// an [*AccessError] if the server does not let this user take part, and repeats that. Other
// failures are retried.
func (e *Elector) Run(ctx context.Context, work func(ctx context.Context)) error {
	if err := e.acquire(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		e.release()
		return nil
	}
	return e.lead(ctx, work)
}

// mostRefusals is how many refusals in a row mean that this user may not take part. Fewer prove
// nothing: a kube-apiserver that starts forbids everything until the caches of its authorizer are
// filled. With the default timing it takes 10 to 22 seconds to get that many.
const mostRefusals = 6

// acquire tries until this process leads or ctx has ended.
func (e *Elector) acquire(ctx context.Context) error {
	refusals, allowed := 0, map[requestKind]bool{}
	for ctx.Err() == nil {
		last, err := e.try(ctx)
		if e.leads() {
			return nil
		}
		refusals++
		if !api.IsForbidden(err) {
			refusals = 0
		}
		allowed[last] = allowed[last] || err == nil
		missing := last == create && api.IsNotFound(err) // the namespace
		if !allowed[last] && (missing || refusals >= mostRefusals) {
			return &AccessError{Verb: string(last), Lease: e.lease(), Err: err}
		}
		e.standBy(ctx)
	}
	return nil
}

// standBy blocks until the next attempt is due: when the watch shows that the Lease is free, when
// it expires, or after a jittered retry period if there is nothing to watch, or no watch.
func (e *Elector) standBy(ctx context.Context) {
	pause := wait.Jitter(e.config.Timing.RetryPeriod, jitterFactor)
	if e.left() > 0 {
		if e.watch(ctx) {
			return
		}
		pause = min(pause, e.left())
	}
	_ = wait.Sleep(ctx, pause)
}

// watch watches the Lease until it may be taken, or the watch fails. It reports which. Its events
// are hints, none older than the Lease last read: such a one could show it as free in a loop.
func (e *Elector) watch(ctx context.Context) (free bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	expiry := time.AfterFunc(e.left(), stop)
	defer expiry.Stop()
	opts := api.ListOptions{FieldSelector: "metadata.name=" + e.config.Name}
	if e.candidate.lease != nil {
		opts.ResourceVersion = e.candidate.lease.ResourceVersion
	}
	watcher, err := e.config.Leases.Watch(ctx, opts)
	if err != nil {
		return e.left() <= 0
	}
	defer watcher.Stop()
	for e.left() > 0 {
		expiry.Reset(e.left())
		event, err := watcher.Next()
		if err != nil {
			break
		}
		e.observe(event)
	}
	return e.left() <= 0
}

// observe handles an event of the watch.
func (e *Elector) observe(event api.WatchEvent[*api.Lease]) {
	e.mu.Lock()
	switch event.Type {
	case api.WatchAdded, api.WatchModified:
		e.candidate.observe(event.Object, e.moment())
	case api.WatchDeleted:
		e.candidate.lease = nil
	}
	e.mu.Unlock()
	e.reportLeader()
}

// left returns how long the Lease belongs to another replica, as far as this one knows; not more
// than 0 if it may be taken.
func (e *Elector) left() time.Duration {
	if e.candidate.mayTake(e.now()) {
		return 0
	}
	return e.candidate.expiry() - e.now()
}

// lead calls work, renews until it has returned, and then releases the Lease.
func (e *Elector) lead(ctx context.Context, work func(context.Context)) error {
	fence := e.config.Fence
	alive := fence.begin(context.WithoutCancel(ctx), e.deadline(), e.missed)
	defer fence.finish()
	e.config.Trace.Acquired(e.candidate.term)

	working, worked := context.WithCancel(alive)
	var worker sync.WaitGroup
	worker.Go(func() {
		defer worked()
		work(working)
	})
	e.renewWhile(working)
	lost := context.Cause(alive)
	if lost != nil {
		e.resign()
		e.config.Trace.Lost(lost)
	}
	worker.Wait()
	if lost == nil {
		e.release()
	}
	return lost
}

// renewWhile renews every period until the context ends. The period counts from the beginning of an
// attempt: with a pause after each, a leader would miss its deadline on a slow server whose answers
// arrive.
func (e *Elector) renewWhile(ctx context.Context) {
	timer := time.NewTimer(e.config.Timing.RetryPeriod)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := e.now()
		if ctx.Err() == nil {
			e.renew(ctx)
		}
		timer.Reset(e.config.Timing.RetryPeriod - (e.now() - began))
	}
}

func (e *Elector) renew(ctx context.Context) {
	fence := e.config.Fence
	if !fence.open() {
		return // a renewal now would only delay the others
	}
	began := e.now()
	_, err := e.try(ctx)
	switch {
	case !e.leads():
		fence.lose(&LostError{Lease: e.lease(), Taken: true, Holder: e.candidate.record.holder})
	case err == nil && fence.extend(e.deadline()):
		e.config.Trace.Renewed(e.now() - began)
	}
}

// try makes one attempt to become or remain the leader. It returns the last request of the attempt,
// and its error. That another replica leads is not an error.
func (e *Elector) try(ctx context.Context) (last requestKind, err error) {
	led := e.leads()
	last, err = e.play(ctx, e.candidate.begin(e.moment()))
	reported := err
	if ctx.Err() != nil {
		reported = nil // not a failure: the attempt was cancelled
	}
	e.mu.Lock()
	e.lastErr = reported
	e.mu.Unlock()
	if !led {
		e.reportLeader()
	}
	if reported != nil {
		e.config.Trace.Failed(reported, led)
	}
	return last, err
}

// mostSteps bounds an attempt: update, get, create, get, update. More are needed only if another
// client keeps writing.
const mostSteps = 6

// play sends requests until the candidate has no next one, or a standby stops before its first
// write. A conflict or a missing Lease is an error only if it ends the attempt.
func (e *Elector) play(ctx context.Context, next request) (last requestKind, err error) {
	for range mostSteps {
		if next.kind == nothing || next.kind != get && !e.leads() && ctx.Err() != nil {
			break
		}
		last = next.kind
		sent := e.now()
		var lease *api.Lease
		lease, err = e.send(ctx, next)
		e.mu.Lock()
		next = e.candidate.answer(next, replyOf(err), lease, sent, e.moment())
		e.mu.Unlock()
		if last == get && api.IsNotFound(err) {
			err = nil
		}
	}
	return last, err
}

func replyOf(err error) replyKind {
	switch {
	case err == nil:
		return granted
	case api.IsNotFound(err):
		return notFound
	case api.IsConflict(err), api.IsAlreadyExists(err):
		return conflict
	}
	return failed
}

// send sends one request. Its timeout leaves a leader without an answer time for another attempt
// before its deadline. A standby that stops waits for the answer to a write, because it may lead.
func (e *Elector) send(ctx context.Context, r request) (*api.Lease, error) {
	if r.kind != get && !e.leads() {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, e.config.Timing.RenewDeadline/2)
	defer cancel()
	switch r.kind {
	case get:
		return e.config.Leases.Get(ctx, e.config.Name, api.GetOptions{})
	case create:
		return e.config.Leases.Create(ctx, r.lease, api.UpdateOptions{})
	default:
		return e.config.Leases.Update(ctx, r.lease, api.UpdateOptions{})
	}
}

// release releases the Lease if this process leads. A leader whose lease has expired leaves it
// alone.
func (e *Elector) release() {
	if !e.leads() {
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), e.deadline())
	defer cancel()
	_, err := e.play(ctx, e.candidate.give(e.moment()))
	e.resign()
	e.config.Trace.Released(err)
}

// reportLeader calls Trace.NewLeader if another replica has become the leader.
func (e *Elector) reportLeader() {
	holder, silent := e.candidate.record.holder, e.candidate.record.silence(time.Now())
	if holder != e.reported && holder != "" && holder != e.config.Identity {
		e.reported = holder
		e.config.Trace.NewLeader(holder, silent)
	}
}

func (e *Elector) now() time.Duration { return time.Since(e.began) }

func (e *Elector) moment() moment { return moment{local: e.now(), wall: time.Now()} }

func (e *Elector) leads() bool { return e.candidate.leading }

// deadline returns the end of the time for which this process may work, given its last write.
func (e *Elector) deadline() time.Time {
	return e.began.Add(e.candidate.renewed + e.config.Timing.RenewDeadline)
}

// resign records that this process no longer leads. The Lease is left to expire: requests in flight
// when it was lost may still take effect.
func (e *Elector) resign() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.candidate.leading = false
}

// missed returns the error of a leader that could not renew before its deadline.
func (e *Elector) missed() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &LostError{Lease: e.lease(), Deadline: e.config.Timing.RenewDeadline, Err: e.lastErr}
}

func (e *Elector) lease() string { return e.config.Namespace + "/" + e.config.Name }

// Snapshot is the state of an election as plain data.
type Snapshot struct {
	Lease       string        `json:"lease"`    // namespace/name
	Identity    string        `json:"identity"` // ours
	Leading     bool          `json:"leading"`
	Holder      string        `json:"holder"`   // as it was last seen; "": none
	Acquired    time.Time     `json:"acquired"` // when the holder became the leader, by its clock
	Transitions int           `json:"transitions"`
	Silent      time.Duration `json:"silent_ns"`            // since the last renewal, by the holder's clock and ours
	LastError   string        `json:"last_error,omitempty"` // of the last attempt
}

// Snapshot returns the current state. It may be called from any goroutine.
func (e *Elector) Snapshot() Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &e.candidate
	s := Snapshot{
		Lease: e.lease(), Identity: c.identity, Leading: c.leading, Holder: c.record.holder,
		Transitions: int(c.record.transitions), Silent: c.record.silent(time.Now()),
	}
	if c.record.acquired != 0 {
		s.Acquired = time.UnixMicro(c.record.acquired)
	}
	if e.lastErr != nil {
		s.LastError = e.lastErr.Error()
	}
	return s
}

// Check is a health check: it fails if this process takes itself for the leader although it has not
// renewed for longer than the lease lasts and the tolerance. Then the elector itself is stuck, and
// the process should be restarted. A standby is healthy.
func (e *Elector) Check(tolerance time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.candidate.leading {
		return nil
	}
	if since := e.now() - e.candidate.renewed; since > e.config.Timing.LeaseDuration+tolerance {
		return fmt.Errorf("the Lease %s was renewed %v ago and lasts for %v", e.lease(), since.Round(time.Millisecond),
			e.config.Timing.LeaseDuration)
	}
	return nil
}
