package bench

import (
	"sync"
	"sync/atomic"
	"time"
)

// Meter is where a workload says how far it is, for a progress display. The zero value is ready. All methods may be
// called on nil and from any goroutine.
type Meter struct {
	done atomic.Int64 // of the phase that is going on

	mu    sync.Mutex
	phase Phase // guarded by mu
}

// Phase is a part of a run, and how far it is.
type Phase struct {
	// Name says what happens: "filling the store". The empty name is that of no phase.
	Name string
	// Unit is what Done and Total count: "keys".
	Unit string
	// Started is when the phase began.
	Started time.Time
	// Lasts is how long it takes, Total how many there are to do; 0 where that is not known beforehand.
	Lasts time.Duration
	Total int64
	// Done is how many have been done.
	Done int64
}

// Begin starts a phase and ends the one before. lasts and total are 0 where they are not known.
func (m *Meter) Begin(name, unit string, lasts time.Duration, total int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done.Store(0)
	m.phase = Phase{Name: name, Unit: unit, Started: time.Now(), Lasts: lasts, Total: total}
}

// End ends the phase that is going on. A workload needs it only if something that is no phase follows.
func (m *Meter) End() { m.Begin("", "", 0, 0) }

// Count says that n more are done. Call it for a thousand at a time, because it is shared by all goroutines, and for the
// rest at the end.
func (m *Meter) Count(n int) {
	if m != nil {
		m.done.Add(int64(n))
	}
}

// Phase returns the phase that is going on.
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
