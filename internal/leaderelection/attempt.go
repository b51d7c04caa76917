package leaderelection

import (
	"context"
	"errors"
	"time"

	"orrery/restclient/api"
)

// mostSteps bounds an attempt: an update, a get, a create, a get, an update. More happen only if somebody else writes all the time.
const mostSteps = 6

func (k requestKind) String() string {
	return [...]string{nothing: "nothing", get: "get", create: "create", update: "update"}[k]
}

// try makes one attempt to become the leader or to remain it, and tells at which request it ended and with what error. That
// another one leads is no error.
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
		e.config.Trace.slowPath()
	}
	e.conclude(ctx, err, wasLeading)
	return last, err
}

// conclude tells how an attempt ended.
func (e *Elector) conclude(ctx context.Context, err error, wasLeading bool) {
	if ctx.Err() != nil {
		err = nil // nothing has failed: the attempt was not wanted any more
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
	e.config.Trace.failed(err, wasLeading)
	if e.config.Reconnect != nil && !isAnswer(err) {
		e.config.Reconnect()
	}
}

// isAnswer tells whether an attempt that ended with err was answered by the server.
func isAnswer(err error) bool {
	var status *api.StatusError
	return err == nil || errors.As(err, &status)
}

// step sends one request and lets the candidate say what the answer means. A conflict, and a Lease that does not exist, are
// answers; they are errors only if nothing can be done about them.
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
	return failed
}

// send sends one request. Its time is limited so that a leader that gets no answer has another try before its deadline.
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

// rehearse finds out, without changing anything, whether we may do what we have to do when the leader is gone: it would be
// late to find out then.
func (e *Elector) rehearse(ctx context.Context) error {
	e.mu.Lock()
	lease := e.candidate.lease
	e.mu.Unlock()
	if lease == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.config.Timing.RenewDeadline/2)
	defer cancel()
	_, err := e.config.Leases.Update(ctx, lease, api.UpdateOptions{DryRun: true})
	return err
}

// release gives the Lease back, if it is still ours and as long as it lasts.
func (e *Elector) release() {
	left := e.deadline() - e.clock.now()
	ctx, cancel := context.WithTimeout(context.Background(), max(left, 0))
	defer cancel()
	e.mu.Lock()
	next := e.candidate.give(e.clock.moment())
	e.mu.Unlock()
	var err error
	for range mostSteps {
		if next.kind == nothing {
			break
		}
		next, err = e.step(ctx, next)
	}
	e.resign()
	e.config.Trace.released(err)
}

// reportLeader tells the trace who else leads, when that has changed.
func (e *Elector) reportLeader() {
	e.mu.Lock()
	holder := e.candidate.record.holder
	changed := holder != e.reported && holder != "" && holder != e.config.Identity && !e.over
	if changed {
		e.reported = holder
	}
	e.mu.Unlock()
	if changed {
		e.config.Trace.newLeader(holder)
	}
}

// since is how long ago a local moment was.
func (e *Elector) since(local time.Duration) time.Duration { return e.clock.now() - local }
