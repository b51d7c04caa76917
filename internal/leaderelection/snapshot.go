package leaderelection

import (
	"fmt"
	"time"
)

// Snapshot is the state of an election at one moment, as plain data.
type Snapshot struct {
	Lease       string        `json:"lease"`    // namespace/name
	Identity    string        `json:"identity"` // ours
	Leading     bool          `json:"leading"`
	Holder      string        `json:"holder"` // as it was last seen; "": nobody
	Transitions int           `json:"transitions"`
	Observed    time.Duration `json:"observed_ns_ago"`          // since the Lease was last seen to change
	Renewed     time.Duration `json:"renewed_ns_ago,omitempty"` // since our last renewal; only while leading
	Watching    bool          `json:"watching"`                 // the Lease is watched
	LastError   string        `json:"last_error,omitempty"`     // of the last attempt
}

// Snapshot may be called from any goroutine.
func (e *Elector) Snapshot() Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &e.candidate
	s := Snapshot{
		Lease: e.lease(), Identity: c.identity, Leading: c.leading,
		Holder: c.record.holder, Transitions: int(c.record.transitions),
		Observed: e.since(c.observed), Watching: e.watching,
	}
	if c.leading {
		s.Renewed = e.since(c.renewed)
	}
	if e.lastErr != nil {
		s.LastError = e.lastErr.Error()
	}
	return s
}

// Check is a health check: it fails if this process takes itself for the leader although it has not renewed for longer than
// the lease lasts and the tolerance. Then the elector itself is stuck, and the process should be restarted. Who stands by
// is well.
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
