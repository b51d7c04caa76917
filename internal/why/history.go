package why

import "time"

// releasedWithin is how long a removed finalizer counts as a sign that its owner is at work.
const releasedWithin = 3 * time.Minute

// History has what several examinations saw of a namespace: an owner that works twice a minute does
// not look stopped in between. The zero value is empty. It is not safe for concurrent use.
type History struct {
	counts   map[string]map[string]int // by the namespace's UID, then by type and finalizer
	released map[string]map[string]time.Time
}

// Add puts into the evidence which finalizers were removed within the last minutes, and remembers
// it.
func (h *History) Add(e *Evidence) {
	if e.Namespace == nil {
		return
	}
	if h.counts == nil {
		h.counts, h.released = map[string]map[string]int{}, map[string]map[string]time.Time{}
	}
	before, counts := h.counts[e.Namespace.UID], map[string]int{}
	e.Released = map[string]time.Time{}
	for key, at := range h.released[e.Namespace.UID] {
		if e.At.Sub(at) < releasedWithin {
			e.Released[key] = at
		}
	}
	for _, t := range e.Types {
		if t.Unread() {
			continue
		}
		for finalizer := range t.Finalizers {
			key := t.Name() + " " + finalizer
			counts[key] = t.Finalizers[finalizer]
			if before[key] > counts[key] {
				e.Released[key] = e.At
			}
		}
	}
	h.counts[e.Namespace.UID], h.released[e.Namespace.UID] = counts, e.Released
}
