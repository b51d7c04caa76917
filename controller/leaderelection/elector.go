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
	clock  *clock
	poked  chan struct{} // has capacity 1: the Lease may have changed

	mu        sync.Mutex // guards the fields below
	candidate candidate
	reported  string // the holder last passed to Trace.NewLeader
	lastErr   error  // of the last attempt; nil if it succeeded
	over      bool   // this process was the leader and is not any more
	watching  bool
}

// New returns a new elector; [Elector.Run] starts it. It fails with a [*ConfigError] if the
// configuration is invalid.
func New(config Config) (*Elector, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	config.Timing = config.Timing.withDefaults()
	config.Trace = hooks.Complete(config.Trace)
	return &Elector{
		config: config,
		clock:  newClock(),
		poked:  make(chan struct{}, 1),
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
// an [*AccessError] if the server does not let this user take part from the start, and repeats
// that. Other failures are retried.
func (e *Elector) Run(ctx context.Context, work func(ctx context.Context, term Term)) error {
	var lookout sync.WaitGroup
	watchCtx, stopWatch := context.WithCancel(context.WithoutCancel(ctx))
	defer lookout.Wait()
	defer stopWatch()
	if e.config.Watch != nil {
		lookout.Go(func() { e.watch(watchCtx) })
	}

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
	refusals := 0
	for admitted := false; ctx.Err() == nil; {
		verb, err := e.try(ctx)
		if e.leads() {
			return nil
		}
		if !admitted && err == nil {
			verb, err = update, e.dryRun(ctx)
		}
		refusals++
		missing := verb == create && api.IsNotFound(err) // the namespace
		switch forbidden := api.IsForbidden(err); {
		case !admitted && (missing || forbidden && refusals == mostRefusals):
			return &AccessError{Verb: verb.String(), Namespace: e.config.Namespace, Name: e.config.Name, Err: err}
		case !forbidden:
			refusals = 0
		}
		admitted = admitted || refusals == 0 && replyOf(err) != failed
		e.standBy(ctx, admitted)
	}
	return nil
}

// standBy blocks until the next attempt is due. As long as the user has not been admitted, changes
// of the Lease do not count: a leader that renews would put the next attempt off again and again.
func (e *Elector) standBy(ctx context.Context, admitted bool) {
	poked := e.poked
	if !admitted {
		poked = nil
	}
	for {
		timer := time.NewTimer(e.pause())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			return
		case <-poked:
			timer.Stop()
			if e.mayTake() {
				return
			}
		}
	}
}

// pause returns the time until the next attempt: a jittered retry period, but not beyond the expiry
// of the Lease.
func (e *Elector) pause() time.Duration {
	pause := wait.Jitter(e.config.Timing.RetryPeriod, jitterFactor)
	e.mu.Lock()
	defer e.mu.Unlock()
	if left := e.candidate.expiry() - e.clock.now(); left > 0 {
		pause = min(pause, left)
	}
	return pause
}

func (e *Elector) mayTake() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.candidate.mayTake(e.clock.now())
}

func (e *Elector) leads() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.candidate.leading
}

// lead calls work, renews until it has returned, and then releases the Lease.
func (e *Elector) lead(ctx context.Context, work func(context.Context, Term)) error {
	hold := newHold(context.WithoutCancel(ctx), e.clock, e.deadline(), e.fenceOff, e.lostInTime)
	defer hold.finish()
	if e.config.Fence != nil {
		e.config.Fence.guard(hold)
		defer e.config.Fence.guard(nil)
	}
	term := e.term()
	e.config.Trace.Acquired(term)

	working, worked := context.WithCancel(hold.ctx)
	var worker sync.WaitGroup
	worker.Go(func() {
		defer worked()
		work(hold.ctx, term)
	})
	e.renewWhile(working, hold)
	if err := context.Cause(hold.ctx); err != nil {
		e.resign()
		e.config.Trace.Lost(err)
		worker.Wait()
		return err
	}
	worker.Wait()
	hold.end(context.Canceled) // finish would close the fence before all that the work has written is sent
	e.release()
	return nil
}

// renewWhile renews every period, and at once if the Lease has changed, until the context ends. The
// period counts from the beginning of an attempt: with a pause after each, a leader would miss its
// deadline on a slow server whose answers arrive.
func (e *Elector) renewWhile(ctx context.Context, hold *hold) {
	timer := time.NewTimer(e.config.Timing.RetryPeriod)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-e.poked:
		}
		began := e.clock.now()
		if ctx.Err() == nil {
			e.renew(ctx, hold)
		}
		timer.Reset(e.config.Timing.RetryPeriod - e.since(began))
	}
}

func (e *Elector) renew(ctx context.Context, hold *hold) {
	if !hold.alive() {
		return // a renewal now would only delay the others
	}
	began := e.clock.now()
	_, err := e.try(ctx)
	switch {
	case !e.leads():
		hold.stop(e.lostToOther())
	case err == nil && hold.extend(e.deadline()):
		e.config.Trace.Renewed(e.clock.now() - began)
	}
}

// deadline returns the end of the time for which this process may work, given its last write.
func (e *Elector) deadline() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.candidate.renewed + e.config.Timing.RenewDeadline
}

func (e *Elector) term() Term {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.candidate.term
}

func (e *Elector) fenceOff() {
	if e.config.Fence != nil {
		e.config.Fence.close()
	}
}

func (e *Elector) lostInTime() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &LostError{Lease: e.lease(), Deadline: e.config.Timing.RenewDeadline, Err: e.lastErr}
}

func (e *Elector) lostToOther() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &LostError{Lease: e.lease(), Taken: true, Holder: e.candidate.record.holder,
		Deadline: e.config.Timing.RenewDeadline}
}

func (e *Elector) lease() string { return e.config.Namespace + "/" + e.config.Name }

// resign records that this process no longer leads. The Lease is left to expire: requests in flight
// when it was lost may still take effect.
func (e *Elector) resign() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.candidate.leading, e.over = false, true
}

// Snapshot is the state of an election as plain data.
type Snapshot struct {
	Lease       string        `json:"lease"`    // namespace/name
	Identity    string        `json:"identity"` // ours
	Leading     bool          `json:"leading"`
	Holder      string        `json:"holder"`   // as it was last seen; "": none
	Acquired    time.Time     `json:"acquired"` // when the holder became the leader, by its clock
	Lasts       time.Duration `json:"lasts_ns"` // how long the Lease lasts after a renewal
	Transitions int           `json:"transitions"`
	Silent      time.Duration `json:"silent_ns"`            // since the holder's last renewal
	Watching    bool          `json:"watching"`             // the Lease is watched
	LastError   string        `json:"last_error,omitempty"` // of the last attempt
}

// Snapshot returns the current state. It may be called from any goroutine.
func (e *Elector) Snapshot() Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &e.candidate
	s := Snapshot{
		Lease: e.lease(), Identity: c.identity, Leading: c.leading,
		Holder: c.record.holder, Transitions: int(c.record.transitions),
		Lasts: c.record.duration(), Silent: c.silent(e.clock.moment()), Watching: e.watching,
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
	if since := e.since(e.candidate.renewed); since > e.config.Timing.LeaseDuration+tolerance {
		return fmt.Errorf("the Lease %s was renewed %v ago and lasts for %v", e.lease(), since.Round(time.Millisecond),
			e.config.Timing.LeaseDuration)
	}
	return nil
}
