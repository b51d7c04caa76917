package leaderelection

import (
	"fmt"
	"time"
)

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
		return fmt.Errorf("the Lease %s was renewed %v ago and lasts for %v", e.lease(), since.Round(time.Millisecond), e.config.Timing.LeaseDuration)
	}
	return nil
}
