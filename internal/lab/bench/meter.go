package bench

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Meter is where a workload says how far it is, for a progress display. The zero value is ready. All methods may be
// called on nil and from any goroutine.
type Meter struct {
	done atomic.Int64 // of the phase that is going on

	mu     sync.Mutex
	phases []Phase // guarded by mu; in the order in which they began; only the last one may be going on
}

// Begin starts a phase and ends the one before. lasts and total are 0 where they are not known.
func (m *Meter) Begin(name, unit string, lasts time.Duration, total int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.endLocked(now)
	m.phases = append(m.phases, Phase{Name: name, Unit: unit, Started: now, Lasts: lasts, Total: total})
}

// End ends the phase that is going on, if there is one. A workload needs it only if something that is no phase follows.
func (m *Meter) End() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endLocked(time.Now())
}

func (m *Meter) endLocked(now time.Time) {
	done := m.done.Swap(0)
	if n := len(m.phases); n > 0 && m.phases[n-1].Ended.IsZero() {
		m.phases[n-1].Ended, m.phases[n-1].Done = now, done
	}
}

// Count says that n more are done. Call it for a thousand at a time, because it is shared by all goroutines, and for the
// rest at the end.
func (m *Meter) Count(n int) {
	if m != nil {
		m.done.Add(int64(n))
	}
}

// Phase returns the phase that is going on, or the last one if none is.
func (m *Meter) Phase() Phase {
	if m == nil {
		return Phase{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.phases) == 0 {
		return Phase{}
	}
	return m.phaseLocked(len(m.phases) - 1)
}

// Phases returns all phases but the first n, in their order. With the number of those that somebody knows as n it is how
// to miss none.
func (m *Meter) Phases(n int) []Phase {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n >= len(m.phases) {
		return nil
	}
	phases := slices.Clone(m.phases[n:])
	phases[len(phases)-1] = m.phaseLocked(len(m.phases) - 1)
	return phases
}

func (m *Meter) phaseLocked(i int) Phase {
	phase := m.phases[i]
	if phase.Ended.IsZero() {
		phase.Done = m.done.Load()
	}
	return phase
}
