package bench

import (
	"sync"
	"sync/atomic"
	"time"
)

// Meter reports the progress of a workload. The zero value is ready for use. All methods may be
// called on nil and from any goroutine.
type Meter struct {
	done atomic.Int64 // in the current phase

	mu    sync.Mutex
	phase Phase // guarded by mu
}

// Phase is a part of a run and its progress.
type Phase struct {
	// Name describes the phase: "filling the store". It is empty between phases.
	Name string
	// Unit is what Done and Total count: "keys".
	Unit string
	// Started is when the phase began.
	Started time.Time
	// Lasts is the expected duration and Total the expected count; 0 if unknown.
	Lasts time.Duration
	Total int64
	// Done is the count so far.
	Done int64
}

// Begin starts a phase and ends the previous one. lasts and total are 0 if unknown.
func (m *Meter) Begin(name, unit string, lasts time.Duration, total int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Store(0)
	m.phase = Phase{Name: name, Unit: unit, Started: time.Now(), Lasts: lasts, Total: total}
}

// End ends the current phase. Only work between phases needs it.
func (m *Meter) End() { m.Begin("", "", 0, 0) }

// Count adds n to Done. All goroutines share the counter, so call it once for about a thousand, and
// once for the rest.
func (m *Meter) Count(n int) {
	if m != nil {
		m.done.Add(int64(n))
	}
}

// Phase returns the current phase.
func (m *Meter) Phase() Phase {
	if m == nil {
		return Phase{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	phase := m.phase
	phase.Done = m.done.Load()
	return phase
}
