package bench

import (
	"sync"
	"sync/atomic"
	"time"
)

// Meter is where a workload says how far it is, for a progress display. All methods may be called on nil and from any
// goroutine.
type Meter struct {
	done atomic.Int64

	mu    sync.Mutex
	phase Phase
}

// Phase is a part of a run, and how far it is.
type Phase struct {
	// Name says what happens: "filling the store".
	Name string
	// Unit is what Done counts: "keys".
	Unit string
	// Started is when the phase began.
	Started time.Time
	// Lasts is how long the phase takes, if that is known beforehand.
	Lasts time.Duration
	// Total is how many there are to do, if that is known beforehand.
	Total int64
	// Done is how many have been done.
	Done int64
}

// Begin starts a phase. lasts and total are 0 where they are not known.
func (m *Meter) Begin(name, unit string, lasts time.Duration, total int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase = Phase{Name: name, Unit: unit, Started: time.Now(), Lasts: lasts, Total: total}
	m.done.Store(0)
}

// Count says that n more are done. Call it for a thousand at a time: it is shared by all goroutines.
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
