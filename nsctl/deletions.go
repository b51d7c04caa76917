package nsctl

import (
	"context"
	"errors"
	"time"

	"orrery/controller"
	"orrery/restclient/api"
)

// deletion is what the controller remembers of a namespace that it has seen terminating, until it
// is gone.
type deletion struct {
	ObservedDeletion           // for passes
	began            time.Time // see DeletionBegan
	seen             time.Time // for the first time
	idle             time.Time // the end of the last pass; zero before the first has begun
	setGone          context.CancelFunc
}

// timestampError is how much later than its timestamp a deletion may be seen although it is seen at
// once: timestamps have whole seconds, and an event takes a moment.
const timestampError = 2 * time.Second

// DeletionBegan returns when the deletion of a namespace began that was first seen terminating at
// seen. This is its deletion timestamp, unless the deletion was seen at once, or our clock is
// behind the server's; then it is seen.
func DeletionBegan(namespace *api.Namespace, seen time.Time) time.Time {
	if deleted := namespace.DeletionTimestamp; deleted != nil && seen.Sub(deleted.Time) >= timestampError {
		return deleted.Time
	}
	return seen
}

// ObservedDeletion is what the caller of Delete knows of the deletion before the namespace is read.
// The zero value says that it knows nothing.
type ObservedDeletion struct {
	// UID is the UID of the namespace that was seen terminating. The pass leaves a later namespace
	// of that name alone: its grace period begins when it is seen itself.
	UID string
	// Settled is the end of the grace period by our own clock: since then nothing can be created in
	// the namespace.
	Settled time.Time

	gone context.Context // ends when the caller hears that the namespace has gone; may be nil
}

// IsOfAnother reports whether the namespace was re-created after the deletion was seen.
func (o ObservedDeletion) IsOfAnother(namespace *api.Namespace) bool {
	return o.UID != "" && o.UID != namespace.UID
}

// UntilGone returns a context for the part of a pass that deletes content, and its cancel function,
// which must be called. It ends with ctx, or with the cause [ErrGone] as soon as the caller of
// Delete hears that the namespace has gone. A finalize request does not need it: that write names
// the UID, and its own DELETED event must not cut it short.
func (o ObservedDeletion) UntilGone(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if o.gone == nil {
		return ctx, cancel
	}
	ignore := context.AfterFunc(o.gone, func() { cancel(ErrGone) })
	return ctx, func(cause error) {
		ignore()
		cancel(cause)
	}
}

// observe remembers a namespace that is seen terminating for the first time, and reports whether
// this controller works.
func (c *Controller) observe(namespace *api.Namespace) (working bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deletions[namespace.UID] == nil {
		now := time.Now()
		d := &deletion{began: DeletionBegan(namespace, now), seen: now}
		d.UID, d.Settled = namespace.UID, now.Add(c.gracePeriod)
		d.gone, d.setGone = context.WithCancel(context.Background())
		c.deletions[namespace.UID] = d
	}
	return c.working
}

// unsettled returns what is left of the grace period of a terminating namespace.
func (c *Controller) unsettled(namespace *api.Namespace) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.deletions[namespace.UID]; d != nil {
		return max(time.Until(d.Settled), 0)
	}
	return c.gracePeriod
}

// forget drops a namespace that is gone, and ends the pass over it. A standby does not report Gone;
// the leader does.
func (c *Controller) forget(namespace *api.Namespace) {
	c.mu.Lock()
	d := c.deletions[namespace.UID]
	delete(c.deletions, namespace.UID)
	working := c.working
	c.mu.Unlock()
	if d == nil {
		return
	}
	d.setGone()
	if working {
		c.trace.Gone(namespace.Name, time.Since(d.began))
	}
}

// beginPass returns what is known of the deletion, and traces for how long the namespace has waited
// for the pass. The store may have a namespace whose event the handler has not got yet: such a
// deletion is not known.
func (c *Controller) beginPass(namespace *api.Namespace) (seen ObservedDeletion, known bool) {
	c.mu.Lock()
	d := c.deletions[namespace.UID]
	c.mu.Unlock()
	if d == nil {
		return ObservedDeletion{}, false
	}
	if d.idle.IsZero() { // only the one worker of the namespace uses it
		c.trace.PhaseDone(namespace.Name, PhaseGrace, time.Since(d.seen))
	} else {
		c.trace.PhaseDone(namespace.Name, PhaseWaiting, time.Since(d.idle))
	}
	return d.ObservedDeletion, true
}

// endPass remembers when the pass ended, and adds what is known of the deletion to its error.
func (c *Controller) endPass(namespace *api.Namespace, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.deletions[namespace.UID]
	if d == nil {
		return
	}
	d.idle = time.Now()
	if remaining, ok := errors.AsType[*ResourcesRemainingError](err); ok {
		remaining.Elapsed = d.idle.Sub(d.began)
	}
}

// Deleting returns how many namespaces are known to be terminating. It may be called from any
// goroutine.
func (c *Controller) Deleting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.deletions)
}

// OldestDeletion returns for how long the namespace that was deleted first has been terminating; 0
// if none is. It may be called from any goroutine.
func (c *Controller) OldestDeletion() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	oldest := time.Duration(0)
	for _, d := range c.deletions {
		oldest = max(oldest, time.Since(d.began))
	}
	return oldest
}

// Snapshot is the state of a controller at one moment, as plain data.
type Snapshot struct {
	controller.PoolSnapshot           // what is processed, and what waits
	Deleting                int       // namespaces known to be terminating
	PassedOver              int       // terminating namespaces that are not selected
	Selection               Selection // of the controller
}

// Snapshot returns what the controller processes and what waits. It may be called from any
// goroutine.
func (c *Controller) Snapshot() Snapshot {
	return Snapshot{c.pool.Snapshot(), c.Deleting(), c.PassedOver(), c.selection}
}

// UpdateMetrics sets the gauges of the queue's metrics. Call it when they are read.
func (c *Controller) UpdateMetrics() { c.pool.UpdateMetrics() }
