package nsctl

import (
	"time"

	"orrery/restclient/api"
)

// deletion is what the controller remembers of a namespace that it has seen in deletion, until it is gone.
type deletion struct {
	seen    time.Time // for the first time
	settled time.Time // the grace period is over
	idle    time.Time // the end of the last pass; zero before the first has begun
}

// note remembers a namespace that is seen in deletion for the first time, and tells whether this controller works.
func (c *Controller) note(namespace *api.Namespace) (working bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deletions[namespace.UID] == nil {
		now := time.Now()
		c.deletions[namespace.UID] = &deletion{seen: now, settled: now.Add(c.gracePeriod)}
	}
	return c.working
}

// unsettled is what is left of the grace period of a namespace in deletion.
func (c *Controller) unsettled(namespace *api.Namespace) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.deletions[namespace.UID]; d != nil {
		return max(time.Until(d.settled), 0)
	}
	return c.gracePeriod
}

// forget is called when a namespace is gone. While this controller stands by that is another one's work, which tells of it.
func (c *Controller) forget(namespace *api.Namespace) {
	c.mu.Lock()
	d := c.deletions[namespace.UID]
	delete(c.deletions, namespace.UID)
	working := c.working
	c.mu.Unlock()
	if d != nil && working {
		c.trace.gone(namespace.Name, time.Since(d.seen))
	}
}

// takeUp begins a pass: it returns what is known of the namespace before it is read anew, and tells for how long nobody
// has looked at it.
func (c *Controller) takeUp(namespace *api.Namespace) sighting {
	c.mu.Lock()
	d := c.deletions[namespace.UID]
	if d == nil {
		c.mu.Unlock()
		return sighting{name: namespace.Name} // the store has it, and its event is still on the way
	}
	phase, since := PhaseWaiting, d.idle
	if since.IsZero() {
		phase, since = PhaseGrace, d.seen
	}
	c.mu.Unlock()
	c.trace.phaseDone(namespace.Name, phase, time.Since(since))
	return sighting{name: namespace.Name, uid: namespace.UID, deletedAt: namespace.DeletionTimestamp.Time, settled: d.settled}
}

// putDown ends a pass.
func (c *Controller) putDown(namespace *api.Namespace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.deletions[namespace.UID]; d != nil {
		d.idle = time.Now()
	}
}

// Deleting returns how many namespaces are known to be in deletion. It may be called from any goroutine.
func (c *Controller) Deleting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.deletions)
}
