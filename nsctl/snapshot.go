package nsctl

import (
	"maps"
	"time"

	"orrery/queue"
)

// Snapshot is the state of a controller at one moment, as plain data.
type Snapshot struct {
	// Active are the namespaces that a worker has in hand, with the moment at which its pass began.
	Active map[string]time.Time
	// Deleting is how many namespaces are known to be in deletion.
	Deleting int
	// Queue is what waits.
	Queue queue.Snapshot[string]
}

// Snapshot returns what the controller has in hand and what waits. It may be called from any goroutine.
func (c *Controller) Snapshot() Snapshot {
	c.mu.Lock()
	active, deleting := maps.Clone(c.active), len(c.deletions)
	c.mu.Unlock()
	return Snapshot{Active: active, Deleting: deleting, Queue: c.queue.Snapshot()}
}

// UpdateMetrics sets the gauges of the queue's metrics: call it when they are read.
func (c *Controller) UpdateMetrics() { c.queue.UpdateMetrics() }
