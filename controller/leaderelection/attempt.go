package leaderelection

import (
	"context"
	"time"

	"orrery/restclient/api"
)

// mostSteps bounds an attempt: update, get, create, get, update. More are needed only if another
// client keeps writing.
const mostSteps = 6

func (k requestKind) String() string {
	return [...]string{nothing: "nothing", get: "get", create: "create", update: "update"}[k]
}

// try makes one attempt to become or remain the leader. It returns the last request of the attempt,
// and its error. That another replica leads is not an error.
func (e *Elector) try(ctx context.Context) (last requestKind, err error) {
	wasLeading := e.leads()
	e.mu.Lock()
	next := e.candidate.begin(e.clock.moment())
	e.mu.Unlock()
	slow := wasLeading && next.kind == get
	for range mostSteps {
		if next.kind == nothing {
			break
		}
		last = next.kind
		next, err = e.step(ctx, next)
		slow = slow || wasLeading && next.kind == get
	}
	if slow {
		e.config.Trace.SlowPath()
	}
	e.conclude(ctx, err, wasLeading)
	return last, err
}

// conclude reports the outcome of an attempt.
func (e *Elector) conclude(ctx context.Context, err error, wasLeading bool) {
	if ctx.Err() != nil {
		err = nil // not a failure: the attempt was cancelled
	}
	e.mu.Lock()
	e.lastErr = err
	e.mu.Unlock()
	if !wasLeading {
		e.reportLeader()
	}
	if err == nil {
		return
	}
	e.config.Trace.Failed(err, wasLeading)
}

// step sends one request and passes the answer to the candidate. A conflict or a missing Lease is
// an error only if the candidate has no next step.
func (e *Elector) step(ctx context.Context, r request) (next request, err error) {
	sent := e.clock.now()
	lease, err := e.send(ctx, r)
	e.mu.Lock()
	defer e.mu.Unlock()
	next = e.candidate.answer(r, replyOf(err), lease, sent, e.clock.moment())
	if next.kind != nothing || r.kind == get && api.IsNotFound(err) {
		err = nil
	}
	return next, err
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
	if code := api.CodeOf(err); code >= 400 && code < 500 {
		return refused
	}
	return failed
}

// send sends one request. Its timeout leaves a leader without an answer time for another attempt
// before its deadline.
func (e *Elector) send(ctx context.Context, r request) (*api.Lease, error) {
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

// dryRun asks the server for a dry run of a renewal in our name, to find out early whether this
// user may update the Lease.
func (e *Elector) dryRun(ctx context.Context) error {
	e.mu.Lock()
	if e.candidate.lease == nil {
		e.mu.Unlock()
		return nil
	}
	renewal := e.candidate.renewal(e.clock.moment())
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, e.config.Timing.RenewDeadline/2)
	defer cancel()
	_, err := e.config.Leases.Update(ctx, renewal, api.UpdateOptions{DryRun: true})
	if api.IsForbidden(err) {
		e.conclude(ctx, err, false)
	}
	return err
}

// release releases the Lease if it is or may be ours. A leader whose lease has expired leaves it
// alone.
func (e *Elector) release() {
	left, led := e.config.Timing.RenewDeadline, e.leads()
	if led {
		left = max(e.deadline()-e.clock.now(), 0)
	}
	ctx, cancel := context.WithTimeout(context.Background(), left)
	defer cancel()
	e.mu.Lock()
	next := e.candidate.give(e.clock.moment())
	e.mu.Unlock()
	if next.kind == nothing && !led {
		return
	}
	var err error
	for range mostSteps {
		if next.kind == nothing {
			break
		}
		next, err = e.step(ctx, next)
	}
	e.resign()
	e.config.Trace.Released(err)
}

// reportLeader calls Trace.NewLeader if another replica has become the leader.
func (e *Elector) reportLeader() {
	e.mu.Lock()
	holder, silent := e.candidate.record.holder, e.candidate.record.silence(e.clock.moment().wall)
	changed := holder != e.reported && holder != "" && holder != e.config.Identity && !e.over
	if changed {
		e.reported = holder
	}
	e.mu.Unlock()
	if changed {
		e.config.Trace.NewLeader(holder, silent)
	}
}

// since returns the time since a local moment.
func (e *Elector) since(local time.Duration) time.Duration { return e.clock.now() - local }
