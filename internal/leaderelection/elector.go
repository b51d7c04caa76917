package leaderelection

import (
	"context"
	"sync"
	"time"

	"orrery/restclient/api"
	"orrery/wait"
)

// Elector takes part in one election. It is the shell around the candidate: it owns the goroutines, the timers and the
// requests, and decides nothing.
type Elector struct {
	// Immutable.
	config Config
	clock  *clock
	poked  chan struct{} // holds one: something has happened to the Lease

	mu        sync.Mutex // guards what follows
	candidate candidate
	reported  string // the holder that Trace.NewLeader was told
	lastErr   error  // of the last attempt; nil if it went well
	over      bool   // this process has led and does not any more
	watching  bool
}

// New returns an elector that does nothing before [Elector.Run]. It fails with a [*ConfigError] if the configuration makes
// no sense.
func New(config Config) (*Elector, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	config.Timing = config.Timing.withDefaults()
	return &Elector{
		config: config,
		clock:  newClock(),
		poked:  make(chan struct{}, 1),
		candidate: candidate{
			identity: config.Identity, name: config.Name, namespace: config.Namespace, timing: config.Timing,
		},
	}, nil
}

// Run stands by until this process leads, calls work, and gives the Lease back when work has returned. It may be called once.
//
// The context of the work ends when the lease does, and not when ctx does: a leader that is told to stop finishes what it
// has in hand, as leader. Work has to look at ctx as well. When the lease is lost Run waits for work to return.
//
// It returns nil if ctx has ended or work has returned, a [*LostError] if the lease was lost, and an [*AccessError] if the very first
// attempt shows that this user may not take part. Whatever else goes wrong is repeated.
func (e *Elector) Run(ctx context.Context, work func(ctx context.Context, term Term)) error {
	var lookout sync.WaitGroup
	watchCtx, stopWatch := context.WithCancel(context.WithoutCancel(ctx))
	defer lookout.Wait()
	defer stopWatch()
	if e.config.Watch != nil {
		lookout.Go(func() { e.watch(watchCtx) })
	}

	if err := e.acquire(ctx); err != nil || !e.leads() {
		return err
	}
	if ctx.Err() != nil {
		e.release()
		return nil
	}
	return e.lead(ctx, work)
}

// acquire tries until this process leads, or ctx has ended.
func (e *Elector) acquire(ctx context.Context) error {
	for answered := false; ctx.Err() == nil; {
		verb, err := e.try(ctx)
		if e.leads() {
			return nil
		}
		if !answered && err == nil {
			verb, err = update, e.rehearse(ctx)
		}
		if !answered && (api.IsForbidden(err) || verb == create && api.IsNotFound(err)) {
			return &AccessError{Verb: verb.String(), Namespace: e.config.Namespace, Name: e.config.Name, Err: err}
		}
		answered = answered || isAnswer(err)
		e.standBy(ctx)
	}
	return nil
}

// standBy returns when it is time to try again.
func (e *Elector) standBy(ctx context.Context) {
	for {
		timer := time.NewTimer(e.pause())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			return
		case <-e.poked:
			timer.Stop()
			if e.mayTake() {
				return
			}
		}
	}
}

// pause is how long nothing need be done: a jittered period, but not beyond the moment at which the Lease runs out.
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

// lead calls work and renews until it has returned, then gives the Lease back.
func (e *Elector) lead(ctx context.Context, work func(context.Context, Term)) error {
	hold := newHold(context.WithoutCancel(ctx), e.clock, e.deadline(), e.fenceOff, e.lostInTime)
	defer hold.finish()
	if e.config.Fence != nil {
		e.config.Fence.guard(hold)
		defer e.config.Fence.guard(nil)
	}
	term := e.term()
	e.config.Trace.acquired(term)

	working, worked := context.WithCancel(hold.ctx)
	var worker sync.WaitGroup
	worker.Go(func() {
		defer worked()
		work(hold.ctx, term)
	})
	e.renewWhile(working, hold)
	if err := context.Cause(hold.ctx); err != nil {
		e.resign()
		e.config.Trace.lost(err)
		worker.Wait()
		return err
	}
	worker.Wait()
	hold.end(context.Canceled) // not finish: with that the fence would close, before all that the work has left is sent
	e.release()
	return nil
}

// renewWhile renews every period, and at once when something has happened to the Lease, until the context ends. The period counts
// from the beginning of an attempt: with a pause after each a leader would run out of time on a slow server whose answers it gets.
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
		return // a renewal now would only keep the others waiting
	}
	began := e.clock.now()
	_, err := e.try(ctx)
	switch {
	case !e.leads():
		hold.stop(e.lostToOther())
	case err == nil && hold.extend(e.deadline()):
		e.config.Trace.renewed(e.clock.now() - began)
	}
}

// AtWork is to be called by the work when it has begun in earnest. The Lease says so from the next renewal on, which is due at
// once: who follows learns it from there, see [Term].
func (e *Elector) AtWork() {
	e.mu.Lock()
	e.candidate.atWork = true
	e.mu.Unlock()
	e.poke()
}

// deadline is until when this process may work, by what it has last written.
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
	return &LostError{Lease: e.lease(), Taken: true, Holder: e.candidate.record.holder, Deadline: e.config.Timing.RenewDeadline}
}

func (e *Elector) lease() string { return e.config.Namespace + "/" + e.config.Name }

// resign notes that this process does not lead any more. The Lease is left to run out: what was under way when it was lost may
// not have ended yet.
func (e *Elector) resign() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.candidate.leading, e.over = false, true
}
